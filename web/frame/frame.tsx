/** Frame around every area: menu, project, time range and account */
import { type Signal, signal } from '@preact/signals';
import { BookOpen, Search } from 'lucide';
import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../components/icon.tsx';
import { SkeletonRows } from '../components/skeleton.tsx';
import { TooltipLayer } from '../components/tooltip.tsx';
import { navigate, path, toArea } from './address.ts';
import { type Area, type AreaGroup, explainClosedArea } from './area.ts';
import { areaDocs } from './area-docs.ts';
import { renderText } from './display-text.tsx';
import { isPaletteOpen, listenToKeys, ShortcutDialog } from './keys.tsx';
import { reloadPage } from './lazy-load.tsx';
import { preferences } from './preferences.ts';
import { projectId } from './project.ts';
import { RangePicker } from './range-picker.tsx';
import { session, sessionError } from './session.ts';
import { isCurrentArea, MenuButton, Sidebar } from './sidebar.tsx';

const loadedPalette = signal<typeof import('./palette.tsx').Palette | undefined>(undefined);

/** Command palette, whose code is loaded on first use */
const LazyPalette = ({ areas }: { readonly areas: readonly Area[] }) => {
  const Palette = loadedPalette.value;
  useEffect(() => {
    if (isPaletteOpen.value && loadedPalette.peek() === undefined)
      import('./palette.tsx').then(
        (file) => {
          loadedPalette.value = file.Palette;
        },
        () => reloadPage(),
      );
  }, [isPaletteOpen.value]);
  if (!isPaletteOpen.value || Palette === undefined) return null;
  return (
    <Palette
      areas={areas}
      onClose={() => {
        isPaletteOpen.value = false;
      }}
    />
  );
};

/** Area, and the thing whose page is displayed */
const Crumbs = ({ area }: { readonly area: Area | undefined }) => {
  if (area === undefined) return <b>OIQ</b>;
  const name = area.readPageName?.() ?? '';
  if (name === '') return <b>{area.title}</b>;
  return (
    <>
      <a href={toArea(area.path)} data-page-link>
        {area.title}
      </a>
      <span aria-hidden="true">/</span>
      <b>{renderText(name)}</b>
    </>
  );
};

/** Link to the documentation of the area, in a new tab so that no draft is lost */
const DocsLink = ({ area }: { readonly area: Area | undefined }) => {
  if (area === undefined) return null;
  return (
    <a
      class="docs-link"
      href={`/docs/${area.docs}`}
      target="_blank"
      rel="noreferrer"
      aria-label={`Documentation: ${area.title}`}
      data-tooltip="Documentation"
    >
      <Icon shape={BookOpen} />
    </a>
  );
};

const viewsByPath = new Map<string, Signal<ComponentType | 'failed' | undefined>>();

const loadView = (area: Area): Signal<ComponentType | 'failed' | undefined> => {
  const cachedView = viewsByPath.get(area.path);
  if (cachedView !== undefined) return cachedView;
  const view = signal<ComponentType | 'failed' | undefined>(undefined);
  viewsByPath.set(area.path, view);
  area.load().then(
    (component) => {
      view.value = component;
    },
    () => {
      if (!reloadPage()) view.value = 'failed';
    },
  );
  return view;
};

const AreaView = ({ area }: { readonly area: Area | undefined }) => {
  if (area === undefined)
    return (
      <section class="said">
        <h1>Page not found</h1>
        <p>Select an area from the menu.</p>
      </section>
    );
  const denialReason = explainClosedArea(area);
  if (denialReason !== '')
    return (
      <section class="said">
        <h1>{area.title}</h1>
        <p>{denialReason}</p>
      </section>
    );
  const View = loadView(area).value;
  if (View === undefined)
    return (
      <div class="page">
        <SkeletonRows />
      </div>
    );
  if (View === 'failed') return <p class="said">A part of the page failed to load. Reload the page.</p>;
  return <View />;
};

/** Opens the first permitted area. */
const openFirstArea = (areas: readonly Area[]): void => {
  const first = areas.find((area) => explainClosedArea(area) === '') ?? areas[0];
  if (path.peek() !== '/' || first === undefined) return;
  const project = projectId.peek() || (preferences.peek()?.defaultProjectId ?? '');
  navigate(toArea(first.path, { project }), { replace: true });
};

export const Frame = ({ groups }: { readonly groups: readonly AreaGroup[] }) => {
  const areas = groups.flatMap((group) => group.areas);
  const currentSession = session.value;
  // A layout effect runs before the first paint, so no key press is lost.
  useLayoutEffect(() => listenToKeys(), []);
  useEffect(() => {
    if (currentSession !== undefined) openFirstArea(areas);
  }, [currentSession, path.value]);
  const area = areas.find(isCurrentArea);
  useEffect(() => {
    document.title = area === undefined ? 'OIQ' : `${area.title} · OIQ`;
    areaDocs.value = area?.docs ?? '';
  }, [area]);
  const previousPath = useRef('/');
  // If the previous view had the focus, the focus moves to the new view.
  useEffect(() => {
    const isFirst = previousPath.current === '/';
    previousPath.current = path.value;
    if (!isFirst && document.activeElement === document.body)
      document.getElementById('content')?.focus({ preventScroll: true });
  }, [path.value]);
  if (currentSession === undefined)
    return (
      // The key prevents Preact from reusing this element for the content.
      <main key="before" class="said">
        {sessionError.value === '' ? (
          <p>Loading…</p>
        ) : (
          <p class="problem" role="alert">
            {sessionError.value}
          </p>
        )}
      </main>
    );
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <Sidebar groups={groups} session={currentSession} />
      <header class="top">
        <MenuButton current={area} />
        <p class="crumbs">
          <Crumbs area={area} />
          <DocsLink area={area} />
        </p>
        <button
          type="button"
          class="button secondary"
          id="seek"
          onClick={() => {
            isPaletteOpen.value = true;
          }}
        >
          <Icon shape={Search} />
          <span>Search or jump to…</span> <kbd>Ctrl K</kbd>
        </button>
        <RangePicker />
      </header>
      <main id="content" tabIndex={-1}>
        <AreaView area={area} />
      </main>
      <ShortcutDialog />
      <LazyPalette areas={areas} />
      <TooltipLayer />
    </>
  );
};
