"""What evaluations left on a disk, read as typed results, and how sure these are."""
