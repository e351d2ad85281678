/** Menu of areas in groups, next to the content, or behind a button on narrow screens */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { path, toArea } from './address.ts';
import { type Area, type AreaGroup, explainClosedArea } from './area.ts';
import { Link } from './link.tsx';

/** Returns whether an area is displayed. */
export const isShown = (area: Area): boolean => path.value === area.path || path.value.startsWith(`${area.path}/`);

/** On narrow screens, whether the menu is open */
const isOpen = signal(false);

/** An area without permission links to the reason. */
const Way = ({ area }: { readonly area: Area }) => {
  const closedReason = explainClosedArea(area);
  return (
    <Link to={toArea(area.path)} isCurrent={isShown(area)}>
      {closedReason === '' ? (
        area.title
      ) : (
        <span class="closed" title={closedReason}>
          {area.title}
          <span class="sr-only">: {closedReason}</span>
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
  const current = groups.flatMap(({ areas }) => areas).find(isShown);
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
        {groups.map(({ title, areas }, at) => (
          <div key={title}>
            <p class="soft" id={`areas-${at}`}>
              {title}
            </p>
            <ul aria-labelledby={`areas-${at}`}>
              {areas.map((area) => (
                <li key={area.path}>
                  <Way area={area} />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
    </nav>
  );
};
