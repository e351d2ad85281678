/** Loads the code of components on first use */
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { Skeleton } from '../components/skeleton.tsx';

/** Reloads the page, because after an upgrade its old files are gone. Returns false if it was just reloaded. */
export const reloadPage = (): boolean => {
  const key = 'oiq-loaded-anew';
  const lastReload = Number(sessionStorage.getItem(key) ?? 0);
  if (Date.now() - lastReload < 60_000) return false;
  sessionStorage.setItem(key, String(Date.now()));
  location.reload();
  return true;
};

/** Returns a component that renders a loading message until its code is loaded. */
export const lazyLoad = <Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> => {
  const loadedComponent = signal<ComponentType<Props> | 'failed' | undefined>(undefined);
  let isLoading = false;
  const startLoading = (): void => {
    isLoading = true;
    load().then(
      (component) => {
        loadedComponent.value = component;
      },
      () => {
        if (!reloadPage()) loadedComponent.value = 'failed';
      },
    );
  };
  return (props) => {
    if (!isLoading) startLoading();
    const View = loadedComponent.value;
    if (View === undefined) return <Skeleton />;
    if (View === 'failed') return <p class="soft">A part of the page failed to load. Reload the page.</p>;
    return <View {...props} />;
  };
};
