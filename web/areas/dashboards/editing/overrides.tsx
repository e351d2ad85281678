/** Overrides of a panel: settings that differ for some series or columns */
import { Plus, Trash2 } from 'lucide';
import { Button } from '../../../components/button.tsx';
import type { Panel } from '../calls.ts';
import { OptionalNumber } from './option-fields.tsx';
import { ColorFields } from './value-rules.tsx';
import { Checkbox, Choice } from './variable-parts.tsx';

type Override = Panel['overrides'][number];
type Match = Override['match'];

const matchKinds: readonly (readonly [Match['by'], string])[] = [
  ['name', 'Name'],
  ['pattern', 'Regular expression'],
  ['query', 'Query'],
  ['type', 'Type'],
];
const types = [
  ['number', 'Number'],
  ['time', 'Time'],
  ['text', 'Text'],
  ['boolean', 'Boolean'],
  ['json', 'JSON'],
] as const;

const createMatch = (by: Match['by'], panel: Panel): Match => {
  if (by === 'query') return { by, query: panel.queries[0]?.name ?? 'A' };
  if (by === 'type') return { by, type: 'number' };
  return by === 'name' ? { by, name: 'name' } : { by, pattern: '.*' };
};

const MatchField = ({
  match,
  panel,
  onChange,
}: {
  readonly match: Match;
  readonly panel: Panel;
  readonly onChange: (match: Match) => void;
}) => {
  if (match.by === 'type')
    return <Choice label="Type" value={match.type} options={types} onChange={(type) => onChange({ ...match, type })} />;
  if (match.by === 'query')
    return (
      <Choice
        label="Query"
        value={match.query}
        options={[...panel.queries, ...panel.formulas].map(({ name }) => [name, name] as const)}
        onChange={(query) => onChange({ ...match, query })}
      />
    );
  const isPattern = match.by === 'pattern';
  return (
    <label>
      {isPattern ? 'Regular expression' : 'Name of the field'}{' '}
      <input
        value={isPattern ? match.pattern : match.name}
        spellcheck={false}
        autocomplete="off"
        onInput={({ currentTarget: { value } }) => {
          if (value !== '') onChange(isPattern ? { by: 'pattern', pattern: value } : { by: 'name', name: value });
        }}
      />
    </label>
  );
};

const OverrideFields = ({
  override,
  position,
  panel,
  onChange,
  onRemove,
}: {
  readonly override: Override;
  readonly position: number;
  readonly panel: Panel;
  readonly onChange: (override: Override) => void;
  readonly onRemove: () => void;
}) => {
  const { match, settings } = override;
  const changeSettings = (changed: Readonly<Record<string, unknown>>): void =>
    onChange({
      ...override,
      settings: Object.fromEntries(
        Object.entries({ ...settings, ...changed }).filter(([, value]) => value !== undefined && value !== ''),
      ) as Override['settings'],
    });
  const { hiddenIn = [] } = settings;
  return (
    <fieldset>
      <legend>Override {position}</legend>
      <div class="form two">
        <Choice
          label="Fields by"
          value={match.by}
          options={matchKinds}
          onChange={(by) => onChange({ ...override, match: createMatch(by, panel) })}
        />
        <MatchField match={match} panel={panel} onChange={(changed) => onChange({ ...override, match: changed })} />
        {(
          [
            ['name', 'Display name'],
            ['unit', 'Unit of the field'],
          ] as const
        ).map(([name, label]) => (
          <label key={name}>
            {label}{' '}
            <input
              value={settings[name] ?? ''}
              spellcheck={false}
              autocomplete="off"
              onInput={({ currentTarget }) => changeSettings({ [name]: currentTarget.value })}
            />
          </label>
        ))}
        <OptionalNumber
          label="Decimals of the field"
          value={settings.decimals}
          onChange={(decimals) => changeSettings({ decimals })}
        />
        <ColorFields settings={settings} onChange={changeSettings} />
        <Checkbox
          label="Hidden"
          isChecked={hiddenIn.includes('graph')}
          onChange={(isHidden) => changeSettings({ hiddenIn: isHidden ? ['graph', 'table'] : undefined })}
        />
      </div>
      <Button kind="quiet" icon={Trash2} onClick={onRemove}>
        Remove override {position}
      </Button>
    </fieldset>
  );
};

export const OverridesFields = ({
  panel,
  onChange,
}: {
  readonly panel: Panel;
  readonly onChange: (fields: Partial<Panel>) => void;
}) => {
  const { overrides } = panel;
  return (
    <details class="option-group" open={overrides.length > 0}>
      <summary>Overrides</summary>
      <div class="form">
        <p class="hint">Settings for some series or columns only. Later overrides take precedence.</p>
        {overrides.map((override, index) => (
          <OverrideFields
            // Overrides have no id of their own.
            key={index}
            override={override}
            position={index + 1}
            panel={panel}
            onChange={(changed) => onChange({ overrides: overrides.with(index, changed) })}
            onRemove={() => onChange({ overrides: overrides.toSpliced(index, 1) })}
          />
        ))}
        <Button
          kind="quiet"
          icon={Plus}
          onClick={() => onChange({ overrides: [...overrides, { match: createMatch('name', panel), settings: {} }] })}
        >
          Add override
        </Button>
      </div>
    </details>
  );
};
