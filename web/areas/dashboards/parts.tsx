/** Sections of a dashboard, and the grid of their panels */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import type { DashboardContext } from './board.ts';
import type { Cell, SectionLayout } from './layout.ts';
import { interpolateVariables } from './variable-values.ts';

/** Renders a cell; supplied by the component that displays the dashboard */
type RenderCell = (cell: Cell) => ComponentChildren;

interface SectionViewProps {
  readonly section: SectionLayout;
  readonly head: DashboardContext | undefined;
  readonly renderCell: RenderCell;
}

const Grid = ({ cells, renderCell }: { readonly cells: readonly Cell[]; readonly renderCell: RenderCell }) => (
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
        {renderCell(cell)}
      </div>
    ))}
  </div>
);

const formatSectionTitle = ({ section, repeat }: SectionLayout, head: DashboardContext | undefined): string =>
  interpolateVariables(section?.title ?? '', head, repeat) || 'Section';

const CollapsibleSection = ({ section, head, renderCell }: SectionViewProps) => {
  const [isOpen, setIsOpen] = useState(section.section?.folded !== true);
  return (
    <details class="section" open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{renderText(formatSectionTitle(section, head))}</summary>
      {isOpen ? <SectionView section={section} head={head} renderCell={renderCell} /> : null}
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
        {tabs.map((tab) => (
          <button
            key={tab.key}
            type="button"
            class="plain"
            aria-pressed={tab === selectedTab}
            onClick={() => setParams({ [`tab-${tabs[0]?.key}`]: tab.key })}
          >
            {renderText(formatSectionTitle(tab, head))}
          </button>
        ))}
      </fieldset>
      {selectedTab === undefined ? null : (
        <SectionView key={selectedTab.key} section={selectedTab} head={head} renderCell={renderCell} />
      )}
    </>
  );
};

/** Groups sections in order: consecutive tabs form one group, every other section its own. */
const groupTabs = (sections: readonly SectionLayout[]): SectionLayout[][] => {
  const tabGroups: SectionLayout[][] = [];
  for (const section of sections) {
    const last = tabGroups.at(-1);
    if (section.section?.kind === 'tab' && last?.[0]?.section?.kind === 'tab') last.push(section);
    else tabGroups.push([section]);
  }
  return tabGroups;
};

export const SectionView = ({ section, head, renderCell }: SectionViewProps) => (
  <>
    {section.cells.length === 0 ? null : <Grid cells={section.cells} renderCell={renderCell} />}
    {groupTabs(section.sections).map((sectionGroup) => {
      const [first] = sectionGroup;
      if (first === undefined) return null;
      if (first.section?.kind === 'tab')
        return <Tabs key={first.key} tabs={sectionGroup} head={head} renderCell={renderCell} />;
      return <CollapsibleSection key={first.key} section={first} head={head} renderCell={renderCell} />;
    })}
  </>
);
