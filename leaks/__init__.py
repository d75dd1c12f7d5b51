"""What the numbers say about leakers and their victims, kept with its evidence."""
