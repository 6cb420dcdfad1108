"""The console of a site: pages for analysts, curators and auditors, and a tour for anybody."""
