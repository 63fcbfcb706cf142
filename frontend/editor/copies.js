// A copy of what is not saved yet, in this browser, so that a crash or a closed window loses nothing.
//
// Each open editor keeps its own under `unsaved/USER/CAPABILITY/ID` and holds a lock of that name as long as it lives: a
// copy whose lock nobody holds was left behind.

const locks = navigator.locks;

export class Copies {
  constructor(user, capability) {
    this.prefix = `unsaved/${user}/${capability}/`;
    this.key = this.prefix + Math.random().toString(36).slice(2);
    this.isFull = false;
    locks?.request(this.key, () => new Promise(() => {})).catch(() => {});
  }

  // `texts` and `base` hold the files that were changed alone. Answers whether the copy could be kept.
  keep(copy) {
    try {
      localStorage.setItem(this.key, JSON.stringify({ ...copy, at: Date.now() }));
      this.isFull = false;
    } catch {
      // Full, or shut off: better no copy than an old one.
      this.drop(this.key);
      this.isFull = true;
    }
    return !this.isFull;
  }

  drop(key = this.key) {
    try {
      localStorage.removeItem(key);
    } catch {
      // Storage is shut off: there is nothing to remove.
    }
  }

  // The copies that were left behind, the newest first: [{key, at, texts, base, basedOn}].
  async leftBehind() {
    const held = locks ? new Set((await locks.query()).held.map((lock) => lock.name)) : new Set();
    const found = [];
    try {
      for (const key of Object.keys(localStorage)) {
        if (!key.startsWith(this.prefix) || key === this.key || held.has(key)) continue;
        const copy = read(key);
        if (copy) found.push({ key, ...copy });
        else this.drop(key);
      }
    } catch {
      return [];
    }
    return found.sort((a, b) => b.at - a.at);
  }
}

function read(key) {
  try {
    const copy = JSON.parse(localStorage.getItem(key));
    const isTexts = (one) => typeof one === "object" && one !== null && Object.values(one).every((text) => typeof text === "string");
    return isTexts(copy.texts) && isTexts(copy.base) && Number.isFinite(copy.at) ? copy : null;
  } catch {
    return null;
  }
}
