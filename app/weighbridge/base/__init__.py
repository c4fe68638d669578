"""What every layer may use: errors, words, units, tasks, settings, the database and the folders."""
