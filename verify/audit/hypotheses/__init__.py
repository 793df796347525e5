"""What each hypothesis of the theorem is for: computed, not narrated."""
