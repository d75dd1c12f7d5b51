"""Review findings and effects: what is stored of them, their life, and decisions."""
