/** Picker of the visualization of a panel, as a button that opens a grid of icons */
import {
  ChartArea,
  ChartBar,
  ChartColumn,
  ChartGantt,
  ChartLine,
  ChartNoAxesColumn,
  ChartPie,
  Gauge,
  Grid3x3,
  Hash,
  LayoutDashboard,
  LetterText,
  Network,
  ScrollText,
  Siren,
  Table2,
  Waypoints,
} from 'lucide';
import { Icon, type IconShape } from '../../../components/icon.tsx';
import { closePopover, Popover } from '../../../components/popover.tsx';
import type { Visual } from '../calls.ts';
import type { EditableKind } from './options.ts';

const kinds: Readonly<Record<EditableKind, readonly [title: string, icon: IconShape]>> = {
  'time-series': ['Time series', ChartLine],
  stat: ['Stat', Hash],
  gauge: ['Gauge', Gauge],
  'bar-gauge': ['Bar gauge', ChartBar],
  bars: ['Bar chart', ChartColumn],
  pie: ['Pie chart', ChartPie],
  table: ['Table', Table2],
  heatmap: ['Heatmap', Grid3x3],
  histogram: ['Histogram', ChartNoAxesColumn],
  'state-timeline': ['State timeline', ChartGantt],
  'status-history': ['Status history', ChartArea],
  logs: ['Logs', ScrollText],
  traces: ['Traces', Waypoints],
  'node-graph': ['Node graph', Network],
  text: ['Text', LetterText],
  alerts: ['Alert list', Siren],
  dashboards: ['Dashboard list', LayoutDashboard],
};

const kindEntries = Object.entries(kinds) as [EditableKind, (typeof kinds)[EditableKind]][];

export const VisualPicker = ({
  visual,
  onSelect,
}: {
  readonly visual: Visual;
  readonly onSelect: (kind: EditableKind) => void;
}) => {
  const [title, icon] = visual.kind === 'placeholder' ? ['Unsupported', undefined] : kinds[visual.kind];
  return (
    <div class="visual-picker">
      <span id="visual-label">Visualization</span>
      <Popover title={title} label={`Visualization: ${title}`} icon={icon} alignment="end">
        {() => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset has a layout of its own
          <div class="visual-grid" role="group" aria-label="Visualizations">
            {kindEntries.map(([kind, [kindTitle, kindIcon]]) => (
              <button
                key={kind}
                type="button"
                class="visual-choice"
                aria-pressed={kind === visual.kind}
                onClick={({ currentTarget }) => {
                  closePopover(currentTarget);
                  onSelect(kind);
                }}
              >
                <Icon shape={kindIcon} size={22} />
                {kindTitle}
              </button>
            ))}
          </div>
        )}
      </Popover>
    </div>
  );
};
