"""The weekly review: agenda, decisions, minutes."""
