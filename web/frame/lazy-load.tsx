/** Components whose code is loaded on first use */
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';

/** After an upgrade, an open page lacks files and is reloaded once. */
export const reloadPage = (): boolean => {
  const key = 'oiq-loaded-anew';
  const last = Number(sessionStorage.getItem(key) ?? 0);
  if (Date.now() - last < 60_000) return false;
  sessionStorage.setItem(key, String(Date.now()));
  location.reload();
  return true;
};

/** Returns a component that renders nothing until its code is loaded. */
export const later = <Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> => {
  const loaded = signal<ComponentType<Props> | 'failed' | undefined>(undefined);
  let isLoading = false;
  const begin = (): void => {
    isLoading = true;
    load().then(
      (component) => {
        loaded.value = component;
      },
      () => {
        if (!reloadPage()) loaded.value = 'failed';
      },
    );
  };
  return (props) => {
    if (!isLoading) begin();
    const View = loaded.value;
    if (View === undefined) return <p class="soft">Loading…</p>;
    if (View === 'failed') return <p class="soft">A part of the page failed to load. Reload the page.</p>;
    return <View {...props} />;
  };
};
