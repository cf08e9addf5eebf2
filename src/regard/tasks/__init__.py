"""What an answer is: how each task reads examples, what it loses, how its answers are measured."""
