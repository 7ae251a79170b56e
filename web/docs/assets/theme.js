// What has to be known before anything is drawn: that scripts run, so that the list of pages may be folded, and the reader's choice of light or dark.
document.documentElement.dataset.scripts = '';
try { document.documentElement.dataset.theme = localStorage['attention-docs-theme'] ?? ''; } catch { /* no storage here: as the system has it */ }
