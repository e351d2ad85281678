/** Sections of a dashboard, and the grid of their panels */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { change, inAddress } from '../../frame/address.ts';
import { shownText } from '../../frame/shown-text.tsx';
import type { Head } from './board.ts';
import type { Cell, Part } from './layout.ts';
import { withValues } from './variable-values.ts';

/** Renders a cell; supplied by the component that displays the dashboard */
type ShowCell = (cell: Cell) => ComponentChildren;

interface Shown {
  readonly part: Part;
  readonly head: Head | undefined;
  readonly show: ShowCell;
}

const Grid = ({ cells, show }: { readonly cells: readonly Cell[]; readonly show: ShowCell }) => (
  <div class="panels">
    {cells.map((cell) => (
      <div
        key={cell.key}
        class="cell"
        style={{
          gridColumn: `${cell.x + 1} / span ${cell.width}`,
          gridRow: `${cell.y + 1} / span ${cell.height}`,
        }}
      >
        {show(cell)}
      </div>
    ))}
  </div>
);

const titleOf = ({ section, repeat }: Part, head: Head | undefined): string =>
  withValues(section?.title ?? '', head, repeat) || 'Section';

const Row = ({ part, head, show }: Shown) => {
  const [isOpen, setOpen] = useState(part.section?.folded !== true);
  return (
    <details class="section" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{shownText(titleOf(part, head))}</summary>
      {isOpen ? <PartView part={part} head={head} show={show} /> : null}
    </details>
  );
};

/** The URL contains the selected tab. */
const Tabs = ({ tabs, head, show }: Pick<Shown, 'head' | 'show'> & { readonly tabs: readonly Part[] }) => {
  const chosen = tabs.find(({ key }) => key === inAddress(`tab-${tabs[0]?.key}`)) ?? tabs[0];
  return (
    <>
      <fieldset class="presets" aria-label="Tabs">
        {tabs.map((part) => (
          <button
            key={part.key}
            type="button"
            class="plain"
            aria-pressed={part === chosen}
            onClick={() => change({ [`tab-${tabs[0]?.key}`]: part.key })}
          >
            {shownText(titleOf(part, head))}
          </button>
        ))}
      </fieldset>
      {chosen === undefined ? null : <PartView key={chosen.key} part={chosen} head={head} show={show} />}
    </>
  );
};

/** Returns parts in order; consecutive tabs form one set. */
const setsOf = (parts: readonly Part[]): Part[][] => {
  const sets: Part[][] = [];
  for (const part of parts) {
    const last = sets.at(-1);
    if (part.section?.kind === 'tab' && last?.[0]?.section?.kind === 'tab') last.push(part);
    else sets.push([part]);
  }
  return sets;
};

export const PartView = ({ part, head, show }: Shown) => (
  <>
    {part.cells.length === 0 ? null : <Grid cells={part.cells} show={show} />}
    {setsOf(part.parts).map((set) => {
      const [first] = set;
      if (first === undefined) return null;
      if (first.section?.kind === 'tab') return <Tabs key={first.key} tabs={set} head={head} show={show} />;
      return <Row key={first.key} part={first} head={head} show={show} />;
    })}
  </>
);
