/** Makes elements. Texts are always set as text, so that nothing in the data can act as markup. */

/** An element with attributes and children; strings become text. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A button with a label. */
export function button(
  label: string,
  pressed: () => void,
  attributes: Readonly<Record<string, string>> = {},
): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, label);
  made.addEventListener('click', pressed);
  return made;
}

const CONTROLS = 'button, select, input';

/** What a user reads on a control. */
function labelOf(control: Element): string | null {
  return (control.closest('label')?.firstChild ?? control).textContent;
}

/** Replaces the children of an element. The focus goes to the new control of the same label, or else to the first one. */
export function refill(parent: HTMLElement, ...children: readonly Node[]): void {
  const focused = document.activeElement;
  const label = focused !== null && parent.contains(focused) ? labelOf(focused) : undefined;
  parent.replaceChildren(...children);
  if (label === undefined) return;
  const controls = [...parent.querySelectorAll<HTMLElement>(CONTROLS)];
  (controls.find((control) => labelOf(control) === label) ?? controls[0])?.focus();
}

/** A select with a label. @param now the value that is chosen at first; default the first one */
export function choice(
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  chosen: (value: string) => void,
  now?: string,
): HTMLLabelElement {
  const select = element(
    'select',
    { name: label },
    ...options.map(([value, text]) => element('option', { value }, text)),
  );
  if (now !== undefined) select.value = now;
  select.addEventListener('change', () => chosen(select.value));
  return element('label', {}, `${label} `, select);
}

/** Copies a text. Where the page may not use the clipboard, the text is selected in a field for the moment of copying. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = element('textarea', { 'aria-hidden': 'true', tabindex: '-1' }, text);
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand('copy');
    field.remove();
    return isCopied;
  }
}

/** Offers a file for download. */
export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
