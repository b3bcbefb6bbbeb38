// Begin: build what needs a script, and let the reader choose light or dark.
function buildTheme() {
  const button = document.getElementById("theme"), root = document.documentElement;
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark"
    : window.matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Show this page ${isDark() ? "light" : "dark"}`); };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  name();
  button.hidden = false;
}

buildTheme();
if (!IS_CARD) {
  buildRules();
  buildCurve();
}
buildWhatIf();
