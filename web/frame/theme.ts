/** Color theme: light, dark, or the theme of the operating system */
import { effect, signal } from '@preact/signals';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const storageKey = 'oiq-theme';
export const theme = signal<Theme>(themes.find((option) => option === localStorage.getItem(storageKey)) ?? 'system');

effect(() => {
  localStorage.setItem(storageKey, theme.value);
  document.documentElement.dataset['theme'] = theme.value;
});
