// What this browser keeps for one rater. Where it can't (switched off, full), memory stands in for
// as long as the page is open, and `durable()` returns false.

export function openStore(rater) {
  const prefix = `ccrs:${rater}:`;
  const memory = new Map();
  let keeps = true;

  function read(name, otherwise) {
    let text = memory.get(name);
    if (text === undefined) {
      try {
        text = localStorage.getItem(prefix + name);
      } catch {
        text = null;
      }
    }
    try {
      return (text && JSON.parse(text)) ?? otherwise;
    } catch {
      return otherwise;
    }
  }

  function write(name, value) {
    const text = JSON.stringify(value);
    try {
      localStorage.setItem(prefix + name, text);
      memory.delete(name);
      keeps = memory.size === 0;
    } catch {
      memory.set(name, text);
      keeps = false;
    }
  }

  function remove(name) {
    memory.delete(name);
    try {
      localStorage.removeItem(prefix + name);
    } catch {
      // Nothing was kept there.
    }
  }

  function names() {
    const kept = new Set(memory.keys());
    try {
      for (const name of Object.keys(localStorage)) {
        if (name.startsWith(prefix)) kept.add(name.slice(prefix.length));
      }
    } catch {
      // Only memory is left.
    }
    return [...kept];
  }

  // Runs `react(name)` when another tab of this browser changes something of this rater.
  function watch(react) {
    addEventListener("storage", (event) => {
      if (event.key?.startsWith(prefix)) react(event.key.slice(prefix.length));
    });
  }

  write("probe", 1);
  remove("probe");
  return { read, write, remove, names, watch, durable: () => keeps };
}
