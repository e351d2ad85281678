/** Sidebar: organization, project and areas in groups. On narrow screens it is a drawer that a button opens. */
import { signal } from '@preact/signals';
import { Menu as MenuIcon } from 'lucide';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../components/icon.tsx';
import { AccountMenu } from './account.tsx';
import { path, setParams, toArea } from './address.ts';
import { type Area, type AreaGroup, explainClosedArea } from './area.ts';
import { AreaCountBadge } from './area-count.tsx';
import { renderText } from './display-text.tsx';
import { projectId, projects } from './project.ts';
import type { Session } from './session.ts';

/** Returns whether the page displays an area. */
export const isCurrentArea = (area: Area): boolean =>
  path.value === area.path || path.value.startsWith(`${area.path}/`);

/** On narrow screens, whether the drawer is open */
const isOpen = signal(false);

/** Link to an area. Without permission, the area explains why it cannot be opened. */
const AreaLink = ({ area }: { readonly area: Area }) => {
  const denialReason = explainClosedArea(area);
  return (
    <a
      class={denialReason === '' ? 'area' : 'area closed'}
      href={toArea(area.path)}
      data-page-link
      aria-current={isCurrentArea(area) ? 'page' : undefined}
      title={denialReason === '' ? undefined : denialReason}
    >
      <Icon shape={area.icon} />
      <span>
        {area.title}
        {denialReason === '' ? null : <span class="sr-only">: {denialReason}</span>}
      </span>
      {area.count === undefined || denialReason !== '' ? null : <AreaCountBadge count={area.count} />}
    </a>
  );
};

/** Project select; hidden if there is only one project */
const ProjectSelect = () =>
  projects.value.length < 2 && projectId.value === '' ? null : (
    <select
      id="project"
      aria-label="Project"
      value={projectId.value}
      onChange={({ currentTarget }) => setParams({ project: currentTarget.value })}
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

/** Button of the drawer, which narrow screens show */
export const MenuButton = ({ current }: { readonly current: Area | undefined }) => {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen.value) return undefined;
    document.querySelector<HTMLElement>('#areas a[aria-current], #areas a')?.focus();
    const onKeyDown = ({ key }: KeyboardEvent): void => {
      if (key !== 'Escape') return;
      isOpen.value = false;
      button.current?.focus();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [isOpen.value]);
  return (
    <button
      ref={button}
      id="menu-button"
      type="button"
      class="button icon-only quiet"
      aria-label={current === undefined ? 'Menu' : `Menu: ${current.title}`}
      aria-expanded={isOpen.value}
      aria-controls="areas"
      onClick={() => {
        isOpen.value = !isOpen.value;
      }}
    >
      <Icon shape={MenuIcon} size={18} />
    </button>
  );
};

export const Sidebar = ({ groups, session }: { readonly groups: readonly AreaGroup[]; readonly session: Session }) => {
  useEffect(() => {
    isOpen.value = false;
  }, [path.value]);
  return (
    <>
      {isOpen.value ? (
        // biome-ignore lint/a11y/noStaticElementInteractions: keys close the drawer with Escape
        // biome-ignore lint/a11y/useKeyWithClickEvents: keys close the drawer with Escape
        <div
          class="drawer-backdrop"
          onClick={() => {
            isOpen.value = false;
          }}
        />
      ) : null}
      <nav id="areas" class={isOpen.value ? 'areas open' : 'areas'} aria-label="Areas">
        <div class="areas-head">
          <span class="brand">
            <i aria-hidden="true" />
            OIQ
          </span>
          <span id="organization">{renderText(session.tenant.name)}</span>
          <ProjectSelect />
        </div>
        <div class="areas-list">
          {groups.map(({ title, areas }, groupIndex) => (
            <div key={title}>
              <p class={title === '' ? 'sr-only' : ''} id={`areas-${groupIndex}`}>
                {title || 'Home'}
              </p>
              <ul aria-labelledby={`areas-${groupIndex}`}>
                {areas.map((area) => (
                  <li key={area.path}>
                    <AreaLink area={area} />
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </div>
        <AccountMenu session={session} />
      </nav>
    </>
  );
};
