/** Color theme: light, dark, or that of the system */
import { effect, signal } from '@preact/signals';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const key = 'oiq-theme';
export const theme = signal<Theme>(themes.find((each) => each === localStorage.getItem(key)) ?? 'system');

effect(() => {
  localStorage.setItem(key, theme.value);
  document.documentElement.dataset['theme'] = theme.value;
});
