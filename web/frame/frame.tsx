/** Frame around every area: menu, time range, and account */
import { type Signal, signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Account } from './account.tsx';
import { change, go, path, toArea } from './address.ts';
import { type Area, type AreaGroup, explainClosedArea } from './area.ts';
import { isPaletteOpen, Keys, listenToKeys } from './keys.tsx';
import { reloadPage } from './lazy-load.tsx';
import { isShown, Menu } from './menu.tsx';
import { preferences } from './preferences.ts';
import { projectId, projects } from './project.ts';
import { RangePicker } from './range-picker.tsx';
import { session, sessionError } from './session.ts';

/** Project selector; hidden if there is only one project. */
const Projects = () =>
  projects.value.length < 2 && projectId.value === '' ? null : (
    <select
      id="project"
      aria-label="Project"
      value={projectId.value}
      onChange={({ currentTarget }) => change({ project: currentTarget.value })}
    >
      <option value="">All projects</option>
      {projects.value.some(({ id }) => id === projectId.value) || projectId.value === '' ? null : (
        <option value={projectId.value}>{projectId.value}</option>
      )}
      {projects.value.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );

const palette = signal<typeof import('./palette.tsx').Palette | undefined>(undefined);

/** The code is loaded on first use. */
const Seeking = ({ areas }: { readonly areas: readonly Area[] }) => {
  const Palette = palette.value;
  useEffect(() => {
    if (isPaletteOpen.value && palette.peek() === undefined)
      import('./palette.tsx').then(
        (file) => {
          palette.value = file.Palette;
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

const loaded = new Map<string, Signal<ComponentType | 'failed' | undefined>>();

const viewOf = (area: Area): Signal<ComponentType | 'failed' | undefined> => {
  const known = loaded.get(area.path);
  if (known !== undefined) return known;
  const view = signal<ComponentType | 'failed' | undefined>(undefined);
  loaded.set(area.path, view);
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

const Shown = ({ area }: { readonly area: Area | undefined }) => {
  if (area === undefined)
    return (
      <section class="said">
        <h1>Page not found</h1>
        <p>Select an area from the menu.</p>
      </section>
    );
  const closedReason = explainClosedArea(area);
  if (closedReason !== '')
    return (
      <section class="said">
        <h1>{area.title}</h1>
        <p>{closedReason}</p>
      </section>
    );
  const View = viewOf(area).value;
  if (View === undefined) return <p class="said">Loading…</p>;
  if (View === 'failed') return <p class="said">A part of the page failed to load. Reload the page.</p>;
  return <View />;
};

/** Opens the first permitted area. */
const openFirst = (areas: readonly Area[]): void => {
  const first = areas.find((area) => explainClosedArea(area) === '') ?? areas[0];
  if (path.peek() !== '/' || first === undefined) return;
  const project = projectId.peek() || (preferences.peek()?.defaultProjectId ?? '');
  go(toArea(first.path, { project }), { replace: true });
};

export const Frame = ({ groups }: { readonly groups: readonly AreaGroup[] }) => {
  const areas = groups.flatMap((group) => group.areas);
  const who = session.value;
  // Before rendering, so that no key press is lost.
  useLayoutEffect(() => listenToKeys(), []);
  useEffect(() => {
    if (who !== undefined) openFirst(areas);
  }, [who, path.value]);
  const area = areas.find(isShown);
  useEffect(() => {
    document.title = area === undefined ? 'OIQ' : `${area.title} · OIQ`;
  }, [area]);
  const before = useRef('/');
  // The focused element was removed with the previous view, so the focus moves to the new one.
  useEffect(() => {
    const isFirst = before.current === '/';
    before.current = path.value;
    if (!isFirst && document.activeElement === document.body)
      document.getElementById('content')?.focus({ preventScroll: true });
  }, [path.value]);
  if (who === undefined)
    return (
      // A key distinct from that of the content, so that no focus change applies to this element.
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
        Skip to the content
      </a>
      <Menu groups={groups} />
      <header>
        <button
          type="button"
          class="plain"
          id="seek"
          onClick={() => {
            isPaletteOpen.value = true;
          }}
        >
          Search or jump to <kbd>Ctrl K</kbd>
        </button>
        <Projects />
        <RangePicker />
        <Account who={who} />
      </header>
      <main id="content" tabIndex={-1}>
        <Shown area={area} />
      </main>
      <Keys />
      <Seeking areas={areas} />
    </>
  );
};
