"""From a goal to a plan: playbooks, which need no model."""
