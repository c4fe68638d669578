"""What this machine has: processor, memory, graphics cards. A probe that fails is a cause to tell, never an error."""
