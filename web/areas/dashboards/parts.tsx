/** Sections of a dashboard, and the grid of their panels */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/shown-text.tsx';
import type { DashboardHead } from './board.ts';
import type { Cell, SectionLayout } from './layout.ts';
import { interpolateVariables } from './variable-values.ts';

/** Renders a cell; supplied by the component that displays the dashboard */
type RenderCell = (cell: Cell) => ComponentChildren;

interface SectionViewProps {
  readonly part: SectionLayout;
  readonly head: DashboardHead | undefined;
  readonly renderCell: RenderCell;
}

const Grid = ({ cells, show }: { readonly cells: readonly Cell[]; readonly show: RenderCell }) => (
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

const sectionTitle = ({ section, repeat }: SectionLayout, head: DashboardHead | undefined): string =>
  interpolateVariables(section?.title ?? '', head, repeat) || 'Section';

const CollapsibleSection = ({ part, head, renderCell }: SectionViewProps) => {
  const [isOpen, setOpen] = useState(part.section?.folded !== true);
  return (
    <details class="section" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{renderText(sectionTitle(part, head))}</summary>
      {isOpen ? <SectionView part={part} head={head} renderCell={renderCell} /> : null}
    </details>
  );
};

/** The URL contains the selected tab. */
const Tabs = ({
  tabs,
  head,
  renderCell,
}: Pick<SectionViewProps, 'head' | 'renderCell'> & { readonly tabs: readonly SectionLayout[] }) => {
  const selectedTab = tabs.find(({ key }) => key === readParam(`tab-${tabs[0]?.key}`)) ?? tabs[0];
  return (
    <>
      <fieldset class="presets" aria-label="Tabs">
        {tabs.map((part) => (
          <button
            key={part.key}
            type="button"
            class="plain"
            aria-pressed={part === selectedTab}
            onClick={() => setParams({ [`tab-${tabs[0]?.key}`]: part.key })}
          >
            {renderText(sectionTitle(part, head))}
          </button>
        ))}
      </fieldset>
      {selectedTab === undefined ? null : (
        <SectionView key={selectedTab.key} part={selectedTab} head={head} renderCell={renderCell} />
      )}
    </>
  );
};

/** Groups sections in order: consecutive tabs form one group, every other section its own. */
const groupTabs = (parts: readonly SectionLayout[]): SectionLayout[][] => {
  const tabGroups: SectionLayout[][] = [];
  for (const part of parts) {
    const last = tabGroups.at(-1);
    if (part.section?.kind === 'tab' && last?.[0]?.section?.kind === 'tab') last.push(part);
    else tabGroups.push([part]);
  }
  return tabGroups;
};

export const SectionView = ({ part, head, renderCell }: SectionViewProps) => (
  <>
    {part.cells.length === 0 ? null : <Grid cells={part.cells} show={renderCell} />}
    {groupTabs(part.parts).map((set) => {
      const [first] = set;
      if (first === undefined) return null;
      if (first.section?.kind === 'tab') return <Tabs key={first.key} tabs={set} head={head} renderCell={renderCell} />;
      return <CollapsibleSection key={first.key} part={first} head={head} renderCell={renderCell} />;
    })}
  </>
);
