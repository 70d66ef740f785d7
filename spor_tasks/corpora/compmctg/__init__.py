"""CompMCTG (Zhong et al., ACL 2024): texts with combinations of attributes never seen together."""
