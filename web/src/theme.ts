// Dark or light: as the system has it, or as the reader says.

type Theme = "dark" | "light";

const KEY = "schedlab-theme";
const listeners: (() => void)[] = [];
let said: Theme | null = null;
let printing = false;
let system: MediaQueryList | null = null;

function apply(): void {
  const theme: Theme = printing ? "light" : (said ?? (system?.matches ? "dark" : "light"));
  document.documentElement.dataset.theme = theme;
  document.documentElement.toggleAttribute("data-printing", printing);
  for (const listener of listeners) {
    listener();
  }
}

export function onTheme(listener: () => void): void {
  listeners.push(listener);
}

export function startTheme(): void {
  system = matchMedia("(prefers-color-scheme: dark)");
  try {
    const kept = localStorage.getItem(KEY);
    said = kept === "dark" || kept === "light" ? kept : null;
  } catch {
    // Some browsers keep nothing for files.
  }
  system.addEventListener("change", apply);
  // Paper is white.
  addEventListener("beforeprint", () => {
    printing = true;
    apply();
  });
  addEventListener("afterprint", () => {
    printing = false;
    apply();
  });
  apply();
}

export function toggleTheme(): void {
  said = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, said);
  } catch {
    // As above.
  }
  apply();
}
