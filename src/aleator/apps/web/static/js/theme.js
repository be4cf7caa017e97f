// Sets the theme before anything is drawn: what was chosen last, else what the system prefers, now and when that changes.
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const setTheme = () => {
  document.documentElement.dataset.theme = localStorage.getItem("theme") ?? (prefersDark.matches ? "dark" : "light");
};
setTheme();
prefersDark.addEventListener("change", setTheme);
