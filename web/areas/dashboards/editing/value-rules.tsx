/** Thresholds and value mappings of a panel */
import { Plus, Trash2 } from 'lucide';
import { Button, IconButton } from '../../../components/button.tsx';
import type { Choices } from '../calculations.ts';
import type { Settings } from '../fields.ts';
import { OptionalNumber } from './option-fields.tsx';
import { colors } from './options.ts';
import { Checkbox, Choice } from './variable-parts.tsx';

type Thresholds = NonNullable<Settings['thresholds']>;
type Mapping = NonNullable<Settings['mappings']>[number];

export interface SettingsProps {
  readonly settings: Settings;
  readonly onChange: (changed: Partial<Settings>) => void;
}

/** Select of a color of the palette, with the color itself. A color that an import has and the palette lacks remains. */
const ColorSelect = ({
  label,
  value,
  none,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  /** Title of the choice without a color, if there is one */
  readonly none?: string;
  readonly onChange: (color: string) => void;
}) => {
  const listed: Choices = none === undefined ? colors : [['', none], ...colors];
  const isListed = listed.some(([name]) => name === value);
  return (
    <span class="color-select">
      <span class={value === '' ? 'swatch' : `swatch tone-${isListed ? value : 'grey'}`} />
      <select aria-label={label} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {isListed ? null : <option value={value}>{value}</option>}
        {listed.map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </span>
  );
};

const displays: Choices = [
  ['none', 'Hidden'],
  ['lines', 'Lines'],
  ['areas', 'Areas'],
  ['lines-and-areas', 'Lines and areas'],
];

/** Returns the thresholds, sorted by their values. */
const sortSteps = (steps: Thresholds['steps']): Thresholds['steps'] =>
  [...steps].sort(
    (left, right) => (left.value ?? Number.NEGATIVE_INFINITY) - (right.value ?? Number.NEGATIVE_INFINITY),
  );

/** Returns a step above the last one, in the next color. */
const createStep = (steps: Thresholds['steps']): Thresholds['steps'][number] =>
  steps.length === 0
    ? { value: null, colour: 'green' }
    : { value: (steps.at(-1)?.value ?? 70) + 10, colour: steps.length === 1 ? 'orange' : 'red' };

export const ThresholdFields = ({
  settings,
  isGraph,
  onChange,
}: SettingsProps & {
  /** Whether the panel can draw lines and areas at the thresholds */
  readonly isGraph: boolean;
}) => {
  const thresholds: Thresholds = settings.thresholds ?? { mode: 'absolute', steps: [] };
  const { steps } = thresholds;
  const changeSteps = (changed: Thresholds['steps']): void =>
    onChange({ thresholds: changed.length === 0 ? undefined : { ...thresholds, steps: changed } });
  return (
    <details class="option-group" open={steps.length > 0}>
      <summary>Thresholds</summary>
      <div class="form">
        {steps.map((step, index) => (
          // Steps have no id of their own.
          <div key={index} class="rule-row">
            <ColorSelect
              label={`Color of threshold ${index + 1}`}
              value={step.colour}
              onChange={(colour) => changeSteps(steps.with(index, { ...step, colour }))}
            />
            {step.value === null ? (
              <span class="soft">below all others</span>
            ) : (
              <ThresholdValue
                value={step.value}
                position={index + 1}
                onChange={(value) => changeSteps(steps.with(index, { ...step, value }))}
                onLeave={() => changeSteps(sortSteps(steps))}
              />
            )}
            <IconButton
              label={`Remove threshold ${index + 1}`}
              icon={Trash2}
              onClick={() => changeSteps(steps.toSpliced(index, 1))}
            />
          </div>
        ))}
        <Button kind="quiet" icon={Plus} onClick={() => changeSteps(addSteps(steps))}>
          Add threshold
        </Button>
        {steps.length === 0 ? null : (
          <div class="form two">
            <Choice
              label="Unit of thresholds"
              value={thresholds.mode}
              options={[
                ['absolute', 'Value'],
                ['percent', 'Percent of min to max'],
              ]}
              onChange={(mode) => onChange({ thresholds: { ...thresholds, mode } })}
            />
            {isGraph ? (
              <Choice
                label="Thresholds in the graph"
                value={settings.drawing?.thresholds ?? 'none'}
                options={displays as readonly (readonly ['none' | 'lines' | 'areas' | 'lines-and-areas', string])[]}
                onChange={(shown) => onChange({ drawing: { ...settings.drawing, thresholds: shown } })}
              />
            ) : null}
          </div>
        )}
      </div>
    </details>
  );
};

/** Returns the steps with another one. The first threshold also adds the color below it. */
const addSteps = (steps: Thresholds['steps']): Thresholds['steps'] => {
  const base = steps.length === 0 ? [createStep(steps)] : steps;
  return [...base, createStep(base)];
};

const ThresholdValue = ({
  value,
  position,
  onChange,
  onLeave,
}: {
  readonly value: number;
  readonly position: number;
  readonly onChange: (value: number) => void;
  /** Called when the typed value is complete */
  readonly onLeave: () => void;
}) => (
  <input
    type="number"
    step="any"
    aria-label={`Value of threshold ${position}`}
    defaultValue={String(value)}
    onInput={({ currentTarget: { value: text, validity } }) => {
      if (text !== '' && !validity.badInput) onChange(Number(text));
    }}
    onChange={onLeave}
  />
);

const mappingKinds: readonly (readonly [Mapping['kind'], string])[] = [
  ['value', 'Value'],
  ['range', 'Range'],
  ['pattern', 'Regular expression'],
  ['special', 'Special'],
];
const specialValues = [
  ['null', 'No value'],
  ['nan', 'Not a number'],
  ['null-or-nan', 'No value or not a number'],
  ['true', 'True'],
  ['false', 'False'],
  ['empty', 'Empty text'],
] as const;

const emptyMappings: { readonly [Kind in Mapping['kind']]: Extract<Mapping, { readonly kind: Kind }> } = {
  value: { kind: 'value', value: '' },
  range: { kind: 'range', from: null, to: null },
  pattern: { kind: 'pattern', pattern: '' },
  special: { kind: 'special', match: 'null' },
};

/** Returns a mapping of another kind with the same result. */
const convertMapping = ({ text, colour, icon }: Mapping, kind: Mapping['kind']): Mapping => ({
  ...emptyMappings[kind],
  ...(text === undefined ? {} : { text }),
  ...(colour === undefined ? {} : { colour }),
  ...(icon === undefined ? {} : { icon }),
});

const MappingCondition = ({
  mapping,
  onChange,
}: {
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
}) => {
  if (mapping.kind === 'range')
    return (
      <>
        <OptionalNumber
          label="From"
          value={mapping.from ?? undefined}
          placeholder="−∞"
          onChange={(from) => onChange({ ...mapping, from: from ?? null })}
        />
        <OptionalNumber
          label="To"
          value={mapping.to ?? undefined}
          placeholder="∞"
          onChange={(to) => onChange({ ...mapping, to: to ?? null })}
        />
      </>
    );
  if (mapping.kind === 'special')
    return (
      <Choice
        label="Special value"
        value={mapping.match}
        options={specialValues}
        onChange={(match) => onChange({ ...mapping, match })}
      />
    );
  const isPattern = mapping.kind === 'pattern';
  return (
    <label>
      {isPattern ? 'Regular expression' : 'Value'}{' '}
      <input
        value={isPattern ? mapping.pattern : mapping.value}
        spellcheck={false}
        autocomplete="off"
        onInput={({ currentTarget: { value } }) =>
          onChange(isPattern ? { ...mapping, pattern: value } : { ...mapping, value })
        }
      />
    </label>
  );
};

const MappingFields = ({
  mapping,
  position,
  onChange,
  onRemove,
}: {
  readonly mapping: Mapping;
  readonly position: number;
  readonly onChange: (mapping: Mapping) => void;
  readonly onRemove: () => void;
}) => (
  <fieldset>
    <legend>Mapping {position}</legend>
    <div class="form two">
      <Choice
        label="Condition"
        value={mapping.kind}
        options={mappingKinds}
        onChange={(kind) => onChange(convertMapping(mapping, kind))}
      />
      <MappingCondition mapping={mapping} onChange={onChange} />
      <label>
        Text{' '}
        <input
          value={mapping.text ?? ''}
          maxLength={1024}
          placeholder="Value"
          autocomplete="off"
          onInput={({ currentTarget: { value } }) => {
            const { text: _, ...others } = mapping;
            onChange((value === '' ? others : { ...mapping, text: value }) as Mapping);
          }}
        />
      </label>
      <div>
        <ColorSelect
          label={`Color of mapping ${position}`}
          value={mapping.colour ?? ''}
          none="No color"
          onChange={(colour) => {
            const { colour: _, ...others } = mapping;
            onChange((colour === '' ? others : { ...mapping, colour }) as Mapping);
          }}
        />
      </div>
    </div>
    <Button kind="quiet" icon={Trash2} onClick={onRemove}>
      Remove mapping {position}
    </Button>
  </fieldset>
);

export const MappingsFields = ({ settings, onChange }: SettingsProps) => {
  const { mappings = [] } = settings;
  const changeMappings = (changed: Mapping[]): void =>
    onChange({ mappings: changed.length === 0 ? undefined : changed });
  return (
    <details class="option-group" open={mappings.length > 0}>
      <summary>Value mappings</summary>
      <div class="form">
        {mappings.map((mapping, index) => (
          <MappingFields
            // Mappings have no id of their own.
            key={index}
            mapping={mapping}
            position={index + 1}
            onChange={(changed) => changeMappings(mappings.with(index, changed))}
            onRemove={() => changeMappings(mappings.toSpliced(index, 1))}
          />
        ))}
        <Button kind="quiet" icon={Plus} onClick={() => changeMappings([...mappings, emptyMappings.value])}>
          Add value mapping
        </Button>
      </div>
    </details>
  );
};

/** Fixed color of the values */
export const ColorFields = ({ settings, onChange }: SettingsProps) => (
  <div class="labeled">
    <span aria-hidden="true">Fixed color</span>
    <ColorSelect
      label="Fixed color"
      value={settings.colour?.mode === 'fixed' ? (settings.colour.fixed ?? '') : ''}
      none="Automatic"
      onChange={(fixed) => onChange({ colour: fixed === '' ? undefined : { mode: 'fixed', fixed } })}
    />
  </div>
);

type Link = NonNullable<Settings['links']>[number];

/** Links of a panel */
export const LinkFields = ({
  links,
  onChange,
}: {
  readonly links: readonly Link[];
  readonly onChange: (links: Link[]) => void;
}) => (
  <details class="option-group" open={links.length > 0}>
    <summary>Links</summary>
    <div class="form">
      {links.map((link, index) => (
        // Links have no id of their own.
        <fieldset key={index}>
          <legend>Link {index + 1}</legend>
          <label>
            Link title{' '}
            <input
              value={link.title}
              maxLength={512}
              autocomplete="off"
              onInput={({ currentTarget }) => onChange(links.with(index, { ...link, title: currentTarget.value }))}
            />
          </label>
          <label>
            URL{' '}
            <input
              type="url"
              value={link.url}
              maxLength={4096}
              placeholder="https://wiki.example.com/runbook"
              spellcheck={false}
              autocomplete="off"
              onInput={({ currentTarget }) => onChange(links.with(index, { ...link, url: currentTarget.value }))}
            />
          </label>
          <Checkbox
            label="Open in a new tab"
            isChecked={link.newTab}
            onChange={(newTab) => onChange(links.with(index, { ...link, newTab }))}
          />
          <Button kind="quiet" icon={Trash2} onClick={() => onChange(links.toSpliced(index, 1))}>
            Remove link {index + 1}
          </Button>
        </fieldset>
      ))}
      <Button
        kind="quiet"
        icon={Plus}
        onClick={() => onChange([...links, { title: '', url: 'https://', newTab: true }])}
      >
        Add link
      </Button>
    </div>
  </details>
);
