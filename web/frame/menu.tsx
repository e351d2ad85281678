/** Menu of areas in groups, next to the content; on narrow screens a button opens it */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { path, toArea } from './address.ts';
import { type Area, type AreaGroup, explainClosedArea } from './area.ts';
import { Link } from './link.tsx';

/** Returns whether the page displays an area. */
export const isCurrentArea = (area: Area): boolean =>
  path.value === area.path || path.value.startsWith(`${area.path}/`);

/** On narrow screens, whether the menu is open */
const isOpen = signal(false);

/** Link to an area. Without permission, the area explains why it cannot be opened. */
const AreaLink = ({ area }: { readonly area: Area }) => {
  const denialReason = explainClosedArea(area);
  return (
    <Link url={toArea(area.path)} isCurrent={isCurrentArea(area)}>
      {denialReason === '' ? (
        area.title
      ) : (
        <span class="closed" title={denialReason}>
          {area.title}
          <span class="sr-only">: {denialReason}</span>
        </span>
      )}
    </Link>
  );
};

export const Menu = ({ groups }: { readonly groups: readonly AreaGroup[] }) => {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    isOpen.value = false;
  }, [path.value]);
  const current = groups.flatMap(({ areas }) => areas).find(isCurrentArea);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !isOpen.value) return;
    isOpen.value = false;
    button.current?.focus();
  };
  return (
    <nav class="areas" aria-label="Areas" onKeyDown={onKeyDown}>
      <span class="brand">OIQ</span>
      <button
        ref={button}
        type="button"
        class="plain"
        aria-expanded={isOpen.value}
        aria-controls="areas"
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        Menu<span class="soft">{current === undefined ? '' : `: ${current.title}`}</span>
      </button>
      <div id="areas" class={isOpen.value ? 'open' : ''}>
        {groups.map(({ title, areas }, groupIndex) => (
          <div key={title}>
            <p class="soft" id={`areas-${groupIndex}`}>
              {title}
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
    </nav>
  );
};
