"""What GitHub's and GitLab's webhooks say of pull requests and commits. Pure."""
