/** Editor of one panel: a large preview and the queries at the left, the options at the right */
import { ArrowLeft, Copy, Trash2 } from 'lucide';
import { useRef } from 'preact/hooks';
import { Button } from '../../../components/button.tsx';
import { renderText } from '../../../frame/display-text.tsx';
import type { Panel } from '../calls.ts';
import { type CardProps, PanelCard } from '../card.tsx';
import type { Cell, SectionLayout } from '../layout.ts';
import type { DashboardDraft } from './draft.ts';
import { Formulas } from './formulas.tsx';
import { ListFields } from './list-fields.tsx';
import { OptionGroupFields } from './option-fields.tsx';
import { convertVisual, type EditableKind, hasValueRules, optionsByKind } from './options.ts';
import { OverridesFields } from './overrides.tsx';
import { Queries } from './panel-queries.tsx';
import { PanelSectionSelect } from './sections.tsx';
import { Transformations } from './transformations.tsx';
import { ColorFields, LinkFields, MappingsFields, ThresholdFields } from './value-rules.tsx';
import { Checkbox, Choice } from './variable-parts.tsx';
import { VisualPicker } from './visual-picker.tsx';

interface PanelProps {
  readonly panel: Panel;
  readonly dashboardDraft: DashboardDraft;
}

interface EditProps {
  readonly panel: Panel;
  readonly onChange: (fields: Partial<Panel>) => void;
}

/** Number of grid rows of the preview */
const previewRows = 11;

/** Returns the cell of a panel, the first one if the panel repeats. */
const findCell = ({ cells, sections }: SectionLayout, id: string): Cell | undefined =>
  cells.find(({ panel }) => panel.id === id) ??
  sections.map((section) => findCell(section, id)).find((cell) => cell !== undefined);

const BasicFields = ({ panel, dashboardDraft, onChange }: PanelProps & EditProps) => (
  <details class="option-group" open>
    <summary>Panel</summary>
    <div class="form">
      <label>
        Title{' '}
        <input
          value={panel.title}
          maxLength={512}
          onInput={({ currentTarget }) => onChange({ title: currentTarget.value })}
        />
      </label>
      <label>
        Description{' '}
        <textarea
          rows={2}
          value={panel.description}
          maxLength={8192}
          placeholder="What the panel shows, and what to do about it"
          onInput={({ currentTarget }) => onChange({ description: currentTarget.value })}
        />
      </label>
      <PanelSectionSelect dashboardDraft={dashboardDraft} panelId={panel.id} />
    </div>
  </details>
);

const durations = [
  ['', 'None'],
  ['1h', '1 hour'],
  ['1d', '1 day'],
  ['7d', '7 days'],
] as const;

/** Returns the choices of a duration, with the present one. */
const listDurations = (value: string, none: string): readonly (readonly [string, string])[] => {
  const listed = [['', none] as const, ...durations.slice(1)];
  return listed.some(([duration]) => duration === value) ? listed : [...listed, [value, value]];
};

/** Time range of the panel, and the earlier range with which it is compared */
const TimeFields = ({ panel, onChange }: EditProps) => {
  const { time } = panel;
  const changeTime = (name: 'range' | 'shift' | 'compareWith', value: string): void => {
    const { [name]: _, ...others } = time;
    onChange({ time: value === '' ? others : { ...time, [name]: value } });
  };
  return (
    <details class="option-group" open={Object.keys(time).length > 1}>
      <summary>Time range</summary>
      <div class="form two">
        {(
          [
            ['compareWith', 'Compare with', 'No comparison'],
            ['range', 'Range of the panel', 'Dashboard range'],
            ['shift', 'Shift into the past', 'No shift'],
          ] as const
        ).map(([name, label, none]) => (
          <Choice
            key={name}
            label={label}
            value={time[name] ?? ''}
            options={listDurations(time[name] ?? '', none)}
            onChange={(value) => changeTime(name, value)}
          />
        ))}
      </div>
    </details>
  );
};

/** Repetition of the panel for each selected value of a variable */
const RepeatFields = ({ panel, dashboardDraft, onChange }: PanelProps & EditProps) => {
  const variables = dashboardDraft.draft.value?.variables ?? [];
  if (variables.length === 0) return null;
  const { repeat } = panel;
  return (
    <details class="option-group" open={repeat !== null}>
      <summary>Repeat</summary>
      <div class="form two">
        <Choice
          label="Repeat by variable"
          value={repeat?.variable ?? ''}
          options={[['', 'No repetition'] as const, ...variables.map(({ name }) => [name, name] as const)]}
          onChange={(variable) =>
            onChange({
              repeat: variable === '' ? null : { max: 100, direction: 'across', perRow: 4, ...repeat, variable },
            })
          }
        />
        {repeat === null ? null : (
          <Choice
            label="Direction"
            value={repeat.direction}
            options={[
              ['across', 'Horizontal'],
              ['down', 'Vertical'],
            ]}
            onChange={(direction) => onChange({ repeat: { ...repeat, direction } })}
          />
        )}
      </div>
    </details>
  );
};

const FieldOptions = ({ panel, onChange }: EditProps) => {
  const { fields, visual } = panel;
  const changeFields = (changed: Partial<Panel['fields']> | Readonly<Record<string, unknown>>): void =>
    onChange({
      fields: Object.fromEntries(
        Object.entries({ ...fields, ...changed }).filter(([, value]) => value !== undefined),
      ) as Panel['fields'],
    });
  return (
    <>
      <div class="form option-single">
        <ColorFields settings={fields} onChange={changeFields} />
      </div>
      <ThresholdFields settings={fields} isGraph={visual.kind === 'time-series'} onChange={changeFields} />
      <MappingsFields settings={fields} onChange={changeFields} />
      <OverridesFields panel={panel} onChange={onChange} />
    </>
  );
};

const ContentFields = ({
  panel,
  dashboardDraft,
  board,
  onChange,
}: PanelProps & EditProps & Pick<CardProps, 'board'>) => {
  const { visual } = panel;
  if (visual.kind === 'alerts' || visual.kind === 'dashboards')
    return (
      <div class="card padded form">
        <ListFields visual={visual} onChange={(updatedVisual) => onChange({ visual: updatedVisual })} />
      </div>
    );
  if (visual.kind === 'text')
    return (
      <div class="card padded form">
        <label>
          Text (Markdown){' '}
          <textarea
            rows={10}
            value={visual.content}
            onInput={({ currentTarget }) => onChange({ visual: { ...visual, content: currentTarget.value } })}
          />
        </label>
      </div>
    );
  return (
    <>
      <div class="card padded form">
        <Queries panel={panel} onChange={onChange} />
        <Formulas panel={panel} onChange={onChange} />
      </div>
      <Transformations panel={panel} board={board} document={dashboardDraft.draft.value} onChange={onChange} />
    </>
  );
};

const Options = ({ panel, dashboardDraft, onChange }: PanelProps & EditProps) => {
  const { visual } = panel;
  // A change back to a former kind restores its settings.
  const formerVisuals = useRef(new Map<string, Panel['visual']>());
  const selectKind = (kind: EditableKind): void => {
    if (kind === visual.kind) return;
    formerVisuals.current.set(visual.kind, visual);
    onChange({ visual: formerVisuals.current.get(kind) ?? convertVisual(visual, kind) });
  };
  const groups = visual.kind === 'placeholder' ? [] : optionsByKind[visual.kind];
  return (
    <div class="card panel-options">
      <VisualPicker visual={visual} onSelect={selectKind} />
      <BasicFields panel={panel} dashboardDraft={dashboardDraft} onChange={onChange} />
      {groups.map((group) => (
        <OptionGroupFields key={`${visual.kind} ${group.title}`} group={group} panel={panel} onChange={onChange} />
      ))}
      {hasValueRules(visual.kind) ? <FieldOptions panel={panel} onChange={onChange} /> : null}
      <TimeFields panel={panel} onChange={onChange} />
      <RepeatFields panel={panel} dashboardDraft={dashboardDraft} onChange={onChange} />
      <LinkFields links={panel.links} onChange={(links) => onChange({ links })} />
      <div class="form option-single">
        <Checkbox
          label="Transparent background"
          isChecked={panel.transparent}
          onChange={(transparent) => onChange({ transparent })}
        />
      </div>
    </div>
  );
};

export const PanelEditor = ({
  panel,
  dashboardDraft,
  section,
  onClose,
  onDuplicate,
  ...card
}: PanelProps &
  Omit<CardProps, 'cell' | 'tools'> & {
    readonly section: SectionLayout;
    readonly onClose: () => void;
    readonly onDuplicate: () => void;
  }) => {
  const onChange = (fields: Partial<Panel>): void => dashboardDraft.updatePanel(panel.id, fields);
  const cell = findCell(section, panel.id) ?? { key: panel.id, panel, repeat: {}, ...panel.place };
  return (
    <section class="panel-editor" aria-label="Panel editor">
      <div class="panel-editor-head">
        <Button kind="quiet" icon={ArrowLeft} onClick={onClose}>
          Back to dashboard
        </Button>
        <h2>{renderText(panel.title === '' ? panel.id : panel.title)}</h2>
        <span class="grow" />
        <Button icon={Copy} onClick={onDuplicate}>
          Duplicate panel
        </Button>
        <Button
          icon={Trash2}
          onClick={() => {
            onClose();
            dashboardDraft.removePanel(panel.id);
          }}
        >
          Remove panel
        </Button>
      </div>
      <div class="panel-editor-parts">
        <div class="panel-editor-main">
          <PanelCard cell={{ ...cell, height: previewRows }} {...card} />
          <ContentFields panel={panel} dashboardDraft={dashboardDraft} board={card.board} onChange={onChange} />
        </div>
        <Options panel={panel} dashboardDraft={dashboardDraft} onChange={onChange} />
      </div>
    </section>
  );
};
