// Sets the theme before anything is drawn: what was chosen last, else what the system prefers.
const chosen = localStorage.getItem("theme");
if (chosen) document.documentElement.dataset.theme = chosen;
