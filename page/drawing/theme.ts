/** The colours, from the palette of Okabe and Ito, which the colour-blind can tell apart, on light and on dark ground. */

/** The colours of one appearance. */
export interface Theme {
  readonly ground: string;
  readonly ink: string;
  readonly faint: string;
  readonly line: string;
  readonly request: string;
  readonly reply: string;
  readonly stream: string;
  readonly ack: string;
  readonly service: string;
  readonly bad: string;
  readonly badInk: string;
  /** Text on `bad`. */
  readonly onBad: string;
  readonly mark: string;
  readonly holders: readonly string[];
  readonly holderInk: string;
  readonly selected: string;
}

/** The colours of bars. They are light in both appearances, because their texts are dark. */
const HOLDERS = ['#9fd0f0', '#f5c46b', '#8fd9bf', '#e5b3d0', '#e8e06a', '#f0a882', '#8f9df5', '#b0957a'];

/** On light ground, and on dark. */
export const themes: { readonly light: Theme; readonly dark: Theme } = {
  light: {
    ground: '#ffffff',
    ink: '#1b1f24',
    faint: '#59636e',
    line: '#c4cbd3',
    request: '#0062a3',
    reply: '#00694c',
    stream: '#8a4b00',
    ack: '#86446b',
    service: '#8b949e',
    bad: '#c62828',
    badInk: '#a31515',
    onBad: '#ffffff',
    mark: '#6a3d9a',
    holders: HOLDERS,
    holderInk: '#14181c',
    selected: '#000000',
  },
  dark: {
    ground: '#14181d',
    ink: '#eef1f4',
    faint: '#a9b4c0',
    line: '#434c56',
    request: '#6cb8f0',
    reply: '#3fcf9f',
    stream: '#f0a53c',
    ack: '#e29cc4',
    service: '#77828d',
    bad: '#ff6b62',
    badInk: '#ff9a93',
    onBad: '#14181d',
    mark: '#c8a6f0',
    holders: HOLDERS,
    holderInk: '#14181c',
    selected: '#ffffff',
  },
};
