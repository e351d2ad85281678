/** Form fields of one transformation */
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide';
import { Button, IconButton } from '../../../components/button.tsx';
import { renderText } from '../../../frame/display-text.tsx';
import { calculations } from '../calculations.ts';
import { OptionalNumber, SuggestedText } from './option-fields.tsx';
import {
  moveItem,
  orderColumns,
  type Transformation,
  type TransformationKind,
  type TransformationOption,
  transformationKinds,
} from './transformation-kinds.ts';
import { Checkbox, Checkboxes, Choice } from './variable-parts.tsx';

type OfKind<Kind extends TransformationKind> = Extract<Transformation, { kind: Kind }>;
type Fields = Readonly<Record<string, unknown>>;

interface FormProps<Kind extends TransformationKind = TransformationKind> {
  readonly transformation: OfKind<Kind>;
  /** Names of the columns that the transformation gets */
  readonly columns: readonly string[];
  readonly queries: readonly string[];
  /** Changes fields; those that are `undefined` are removed */
  readonly onChange: (fields: Fields) => void;
}

const toChoices = (names: readonly string[]) => names.map((name) => [name, name] as const);

/** Input with the names of columns as suggestions. An empty name is reported only if the field is optional. */
const ColumnInput = ({
  label,
  value,
  columns,
  placeholder,
  isOptional = false,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly columns: readonly string[];
  readonly placeholder?: string | undefined;
  readonly isOptional?: boolean | undefined;
  readonly onChange: (name: string) => void;
}) => (
  <SuggestedText
    label={label}
    value={value}
    suggestions={toChoices(columns)}
    placeholder={placeholder}
    maxLength={1024}
    onChange={(name) => (name !== '' || isOptional) && onChange(name)}
  />
);

const OptionField = ({
  option,
  value,
  columns,
  queries,
  onChange,
}: Pick<FormProps, 'columns' | 'queries'> & {
  readonly option: TransformationOption;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}) => {
  const { label } = option;
  const text = typeof value === 'string' ? value : '';
  const list = Array.isArray(value) ? (value as string[]) : [];
  switch (option.type) {
    case 'choice':
      return (
        <Choice
          label={label}
          value={text || (option.choices[0]?.[0] ?? '')}
          options={option.choices}
          onChange={onChange}
        />
      );
    case 'switch':
      return <Checkbox label={label} isChecked={value === true} onChange={onChange} />;
    case 'number':
      return (
        <OptionalNumber
          label={label}
          value={typeof value === 'number' ? value : undefined}
          onChange={(number) => number !== undefined && onChange(number)}
        />
      );
    case 'columns':
      return <Checkboxes label={label} selected={list} choices={toChoices(columns)} onChange={onChange} />;
    case 'reducers':
      return <Checkboxes label={label} selected={list} choices={calculations} isRequired onChange={onChange} />;
    case 'queries':
      return <Checkboxes label={label} selected={list} choices={toChoices(queries)} isRequired onChange={onChange} />;
    default:
      return (
        <ColumnInput
          label={label}
          value={text}
          columns={option.type === 'column' ? columns : []}
          placeholder={option.placeholder}
          isOptional={option.isOptional}
          onChange={(name) => onChange(name === '' ? undefined : name)}
        />
      );
  }
};

/** Columns with their visibility, new name and place */
const OrganizeForm = ({ transformation, columns, onChange }: FormProps<'organize'>) => {
  const { hidden = [], names = {} } = transformation;
  const ordered = orderColumns(columns, transformation);
  if (ordered.length === 0) return <p class="hint">The fields are listed when the query has a result.</p>;
  return (
    <ul class="organize">
      {ordered.map((name, index) => {
        const title = renderText(name);
        return (
          <li key={name}>
            <input
              type="checkbox"
              aria-label={`Show ${name}`}
              checked={!hidden.includes(name)}
              onChange={({ currentTarget: { checked } }) =>
                onChange({ hidden: checked ? hidden.filter((other) => other !== name) : [...hidden, name] })
              }
            />
            <bdi>{title}</bdi>
            <input
              aria-label={`New name of ${name}`}
              value={names[name] ?? ''}
              placeholder="New name"
              maxLength={1024}
              autocomplete="off"
              onInput={({ currentTarget: { value } }) => {
                const { [name]: _, ...others } = names;
                onChange({ names: value === '' ? others : { ...names, [name]: value } });
              }}
            />
            <IconButton
              label={`Move ${name} up`}
              icon={ArrowUp}
              disabled={index === 0}
              onClick={() => onChange({ order: [...moveItem(ordered, index, -1)] })}
            />
            <IconButton
              label={`Move ${name} down`}
              icon={ArrowDown}
              disabled={index === ordered.length - 1}
              onClick={() => onChange({ order: [...moveItem(ordered, index, 1)] })}
            />
          </li>
        );
      })}
    </ul>
  );
};

const FilterFieldsForm = ({ transformation, columns, onChange }: FormProps<'filter-fields'>) => {
  const { keep, drop } = transformation;
  const hides = keep === undefined && drop !== undefined;
  const selection = (hides ? drop : keep) ?? {};
  const change = (isHiding: boolean, changed: NonNullable<typeof keep>): void =>
    onChange(isHiding ? { keep: undefined, drop: changed } : { keep: changed, drop: undefined });
  return (
    <>
      <div class="form two">
        <Choice
          label="Action"
          value={hides ? 'hide' : 'show'}
          options={[
            ['show', 'Show only'],
            ['hide', 'Hide'],
          ]}
          onChange={(action) => change(action === 'hide', selection)}
        />
        <label>
          Regular expression{' '}
          <input
            value={selection.pattern ?? ''}
            placeholder="None"
            spellcheck={false}
            autocomplete="off"
            onInput={({ currentTarget: { value } }) => {
              const { pattern: _, ...others } = selection;
              change(hides, value === '' ? { names: [], ...others } : { ...selection, pattern: value });
            }}
          />
        </label>
      </div>
      <Checkboxes
        label="Fields"
        selected={selection.names ?? []}
        choices={toChoices(columns)}
        onChange={(names) => change(hides, { ...selection, names })}
      />
    </>
  );
};

type Condition = OfKind<'filter-rows'>['conditions'][number];

const conditionKinds: readonly (readonly [Condition['is'], string])[] = [
  ['not-null', 'Is not empty'],
  ['null', 'Is empty'],
  ['equal', 'Equals'],
  ['not-equal', 'Does not equal'],
  ['contains', 'Contains'],
  ['not-contains', 'Does not contain'],
  ['matches', 'Matches the pattern'],
  ['above', 'Is above'],
  ['at-least', 'Is at least'],
  ['below', 'Is below'],
  ['at-most', 'Is at most'],
  ['between', 'Is between'],
];

/** Returns a condition of another kind on the same column. */
const createCondition = (field: string, is: Condition['is']): Condition => {
  if (is === 'null' || is === 'not-null') return { field, is };
  if (is === 'matches') return { field, is, pattern: '.*' };
  if (is === 'between') return { field, is, from: 0, to: 100 };
  if (is === 'equal' || is === 'not-equal' || is === 'contains' || is === 'not-contains')
    return { field, is, value: '' };
  return { field, is, value: 0 };
};

const ConditionValue = ({
  condition,
  onChange,
}: {
  readonly condition: Condition;
  readonly onChange: (condition: Condition) => void;
}) => {
  if (condition.is === 'null' || condition.is === 'not-null') return null;
  if (condition.is === 'between')
    return (
      <>
        <OptionalNumber label="From" value={condition.from} onChange={(from = 0) => onChange({ ...condition, from })} />
        <OptionalNumber label="To" value={condition.to} onChange={(to = 0) => onChange({ ...condition, to })} />
      </>
    );
  if (condition.is === 'matches')
    return (
      <ColumnInput
        label="Pattern"
        value={condition.pattern}
        columns={[]}
        onChange={(pattern) => onChange({ ...condition, pattern })}
      />
    );
  if (condition.is === 'above' || condition.is === 'at-least' || condition.is === 'below' || condition.is === 'at-most')
    return (
      <OptionalNumber
        label="Value"
        value={condition.value}
        onChange={(value = 0) => onChange({ ...condition, value })}
      />
    );
  const { field, is, value: text } = condition as Extract<Condition, { is: 'equal' }>;
  return (
    <ColumnInput
      label="Value"
      value={String(text)}
      columns={[]}
      isOptional
      onChange={(value) => onChange({ field, is, value })}
    />
  );
};

const ConditionsForm = ({ transformation: { conditions }, columns, onChange }: FormProps<'filter-rows'>) => (
  <>
    {conditions.map((condition, index) => (
      // Conditions have no id of their own.
      <fieldset key={index}>
        <legend>Condition {index + 1}</legend>
        <div class="form two">
          <ColumnInput
            label="Field"
            value={condition.field}
            columns={columns}
            onChange={(field) => onChange({ conditions: conditions.with(index, { ...condition, field }) })}
          />
          <Choice
            label="Condition"
            value={condition.is}
            options={conditionKinds}
            onChange={(is) => onChange({ conditions: conditions.with(index, createCondition(condition.field, is)) })}
          />
          <ConditionValue
            condition={condition}
            onChange={(changed) => onChange({ conditions: conditions.with(index, changed) })}
          />
        </div>
        {conditions.length === 1 ? null : (
          <Button kind="quiet" icon={Trash2} onClick={() => onChange({ conditions: conditions.toSpliced(index, 1) })}>
            Remove condition {index + 1}
          </Button>
        )}
      </fieldset>
    ))}
    <Button
      kind="quiet"
      icon={Plus}
      onClick={() => onChange({ conditions: [...conditions, createCondition(columns[0] ?? 'Value', 'not-null')] })}
    >
      Add condition
    </Button>
  </>
);

type Calculation = OfKind<'calculate'>['calculation'];
type Operand = Extract<Calculation, { is: 'binary' }>['left'];

const calculationKinds: readonly (readonly [Calculation['is'], string])[] = [
  ['row', 'Reduce row'],
  ['binary', 'Binary operation'],
  ['unary', 'Unary operation'],
  ['cumulative', 'Cumulative'],
  ['window', 'Window'],
  ['index', 'Row index'],
];

const createCalculation = (is: Calculation['is'], [first = 'Value', second = first]: readonly string[]): Calculation =>
  ({
    row: { is: 'row', reducer: 'sum' },
    binary: { is: 'binary', left: { field: first }, operator: '/', right: { field: second } },
    unary: { is: 'unary', field: first, function: 'abs' },
    cumulative: { is: 'cumulative', function: 'sum' },
    window: { is: 'window', function: 'mean', rows: 5, place: 'behind' },
    index: { is: 'index', asShare: false },
  })[is] as Calculation;

const formatOperand = (operand: Operand): string => ('field' in operand ? operand.field : String(operand.value));

/** Operand as text: the name of a column, or a number. */
const parseOperand = (text: string, columns: readonly string[]): Operand =>
  !columns.includes(text) && text.trim() !== '' && Number.isFinite(Number(text))
    ? { value: Number(text) }
    : { field: text };

const operators = [
  ['+', '+'],
  ['-', '−'],
  ['*', '×'],
  ['/', '÷'],
  ['%', 'Modulo'],
  ['^', 'Power'],
] as const;
const functions = [
  ['abs', 'Absolute value'],
  ['exp', 'Exponential'],
  ['ln', 'Natural logarithm'],
  ['floor', 'Round down'],
  ['ceil', 'Round up'],
  ['round', 'Round'],
  ['sign', 'Sign'],
  ['negate', 'Negate'],
] as const;
const windowFunctions = [
  ['mean', 'Mean'],
  ['variance', 'Variance'],
  ['deviation', 'Standard deviation'],
] as const;

interface CalculationProps<Kind extends Calculation['is']> {
  readonly calculation: Extract<Calculation, { is: Kind }>;
  readonly columns: readonly string[];
  readonly onChange: (calculation: Calculation) => void;
}

const BinaryFields = ({ calculation, columns, onChange }: CalculationProps<'binary'>) => (
  <>
    {(['left', 'right'] as const).map((side) => (
      <ColumnInput
        key={side}
        label={side === 'left' ? 'Left field or number' : 'Right field or number'}
        value={formatOperand(calculation[side])}
        columns={columns}
        onChange={(text) => onChange({ ...calculation, [side]: parseOperand(text, columns) })}
      />
    ))}
    <Choice
      label="Operator"
      value={calculation.operator}
      options={operators}
      onChange={(operator) => onChange({ ...calculation, operator })}
    />
  </>
);

const FunctionFields = ({ calculation, columns, onChange }: CalculationProps<'unary' | 'cumulative' | 'window'>) => (
  <>
    <ColumnInput
      label="Field"
      value={calculation.field ?? ''}
      columns={columns}
      placeholder="First number"
      isOptional={calculation.is !== 'unary'}
      onChange={(field) => {
        const { field: _, ...others } = calculation;
        onChange((field === '' ? others : { ...calculation, field }) as Calculation);
      }}
    />
    <Choice
      label="Function"
      value={calculation.function as string}
      options={
        calculation.is === 'unary'
          ? functions
          : calculation.is === 'window'
            ? windowFunctions
            : [
                ['sum', 'Total'],
                ['mean', 'Mean'],
              ]
      }
      onChange={(name) => onChange({ ...calculation, function: name } as Calculation)}
    />
    {calculation.is === 'window' ? (
      <>
        <OptionalNumber
          label="Rows of the window"
          value={calculation.rows}
          onChange={(rows = 1) => onChange({ ...calculation, rows })}
        />
        <Choice
          label="Window"
          value={calculation.place}
          options={[
            ['behind', 'Trailing'],
            ['around', 'Centered'],
          ]}
          onChange={(place) => onChange({ ...calculation, place })}
        />
      </>
    ) : null}
  </>
);

const CalculationForm = ({ transformation: { calculation }, columns, onChange }: FormProps<'calculate'>) => {
  const change = (changed: Calculation): void => onChange({ calculation: changed });
  return (
    <div class="form two">
      <Choice
        label="Mode"
        value={calculation.is}
        options={calculationKinds}
        onChange={(is) => change(createCalculation(is, columns.slice(-2)))}
      />
      {calculation.is === 'row' ? (
        <>
          <Choice
            label="Calculation"
            value={calculation.reducer}
            options={calculations}
            onChange={(reducer) => change({ ...calculation, reducer })}
          />
          <Checkboxes
            label="Fields (all numbers without a selection)"
            selected={calculation.fields ?? []}
            choices={toChoices(columns)}
            onChange={(fields) => {
              const { fields: _, ...others } = calculation;
              change(fields.length === 0 ? others : { ...calculation, fields });
            }}
          />
        </>
      ) : calculation.is === 'binary' ? (
        <BinaryFields calculation={calculation} columns={columns} onChange={change} />
      ) : calculation.is === 'index' ? (
        <Checkbox
          label="As share of all rows"
          isChecked={calculation.asShare}
          onChange={(asShare) => change({ ...calculation, asShare })}
        />
      ) : (
        <FunctionFields calculation={calculation} columns={columns} onChange={change} />
      )}
    </div>
  );
};

/** For each column: ignored, grouped by, or calculated */
const GroupForm = ({ transformation, columns, onChange }: FormProps<'group-by'>) => {
  const { by, figures = [] } = transformation;
  const names = [...new Set([...columns, ...by, ...figures.map(({ field }) => field)])];
  return (
    <>
      {names.map((name) => {
        const aggregation = figures.find(({ field }) => field === name);
        const others = figures.filter(({ field }) => field !== name);
        const use = by.includes(name) ? 'group' : aggregation === undefined ? 'none' : 'calculate';
        return (
          <div key={name} class="group-row">
            <Choice
              label={renderText(name)}
              value={use}
              options={[
                ['none', 'Ignored'],
                ['group', 'Group by'],
                ['calculate', 'Calculate'],
              ]}
              onChange={(changed) => {
                const keys = changed === 'group' ? [...by, name] : by.filter((other) => other !== name);
                // The API requires a column to group by.
                if (keys.length === 0) return;
                onChange({
                  by: keys,
                  figures: changed === 'calculate' ? [...others, { field: name, reducers: ['sum'] }] : others,
                });
              }}
            />
            {aggregation === undefined ? null : (
              <Checkboxes
                label={`Calculations of ${renderText(name)}`}
                selected={aggregation.reducers}
                choices={calculations}
                isRequired
                onChange={(reducers) => onChange({ figures: [...others, { field: name, reducers }] })}
              />
            )}
          </div>
        );
      })}
    </>
  );
};

const conversionTypes = [
  ['number', 'Number'],
  ['text', 'Text'],
  ['time', 'Time'],
  ['boolean', 'Boolean'],
  ['json', 'JSON'],
] as const;

const ConversionsForm = ({ transformation: { conversions }, columns, onChange }: FormProps<'convert'>) => (
  <>
    {conversions.map((conversion, index) => (
      // Conversions have no id of their own.
      <fieldset key={index}>
        <legend>Conversion {index + 1}</legend>
        <div class="form two">
          <ColumnInput
            label="Field"
            value={conversion.field}
            columns={columns}
            onChange={(field) => onChange({ conversions: conversions.with(index, { ...conversion, field }) })}
          />
          <Choice
            label="Type"
            value={conversion.to}
            options={conversionTypes}
            onChange={(to) => onChange({ conversions: conversions.with(index, { ...conversion, to }) })}
          />
          {conversion.to === 'time' ? (
            <ColumnInput
              label="Time format"
              value={conversion.format ?? ''}
              columns={[]}
              placeholder="YYYY-MM-DD HH:mm:ss"
              isOptional
              onChange={(format) => {
                const { format: _, ...others } = conversion;
                onChange({ conversions: conversions.with(index, format === '' ? others : { ...others, format }) });
              }}
            />
          ) : null}
        </div>
        {conversions.length === 1 ? null : (
          <Button kind="quiet" icon={Trash2} onClick={() => onChange({ conversions: conversions.toSpliced(index, 1) })}>
            Remove conversion {index + 1}
          </Button>
        )}
      </fieldset>
    ))}
    <Button
      kind="quiet"
      icon={Plus}
      onClick={() => onChange({ conversions: [...conversions, { field: columns[0] ?? 'Value', to: 'number' }] })}
    >
      Add conversion
    </Button>
  </>
);

/** Paths of the format JSON, one per line */
const PathsField = ({ transformation: { format, paths = [] }, onChange }: FormProps<'extract'>) =>
  format === 'json' ? (
    <label>
      Paths, one per line{' '}
      <textarea
        rows={Math.min(6, paths.length + 1)}
        defaultValue={paths.map(({ path }) => path).join('\n')}
        placeholder="user.name"
        spellcheck={false}
        onChange={({ currentTarget }) =>
          onChange({
            paths: currentTarget.value
              .split('\n')
              .map((path) => path.trim())
              .filter((path) => path !== '')
              .map((path) => paths.find((other) => other.path === path) ?? { path }),
          })
        }
      />
    </label>
  ) : null;

/** Reducer of each query, for "Time series to table" */
const TrendForm = ({ transformation: { figures = {} }, queries, onChange }: FormProps<'trend'>) => (
  <div class="form two">
    {queries.map((query) => (
      <Choice
        key={query}
        label={`Value of query ${query}`}
        value={figures[query] ?? 'last-not-null'}
        options={calculations}
        onChange={(reducer) => onChange({ figures: { ...figures, [query]: reducer } })}
      />
    ))}
  </div>
);

const KindForm = (props: FormProps) => {
  const { transformation } = props;
  switch (transformation.kind) {
    case 'organize':
      return <OrganizeForm {...props} transformation={transformation} />;
    case 'filter-fields':
      return <FilterFieldsForm {...props} transformation={transformation} />;
    case 'filter-rows':
      return <ConditionsForm {...props} transformation={transformation} />;
    case 'calculate':
      return <CalculationForm {...props} transformation={transformation} />;
    case 'group-by':
      return <GroupForm {...props} transformation={transformation} />;
    case 'convert':
      return <ConversionsForm {...props} transformation={transformation} />;
    case 'extract':
      return <PathsField {...props} transformation={transformation} />;
    case 'trend':
      return <TrendForm {...props} transformation={transformation} />;
    default:
      return null;
  }
};

export const TransformationFields = ({ transformation, columns, queries, onChange }: FormProps) => {
  const { options } = transformationKinds[transformation.kind];
  const values = transformation as unknown as Fields;
  return (
    <div class="form">
      <KindForm transformation={transformation} columns={columns} queries={queries} onChange={onChange} />
      {options.length === 0 ? null : (
        <div class="form two">
          {options.map((option) => (
            <OptionField
              key={option.name}
              option={option}
              value={values[option.name]}
              columns={columns}
              queries={queries}
              onChange={(value) => onChange({ [option.name]: value })}
            />
          ))}
        </div>
      )}
      {queries.length < 2 || transformation.kind === 'filter-queries' ? null : (
        <Checkboxes
          label="Apply to queries (all without a selection)"
          selected={transformation.queries ?? []}
          choices={toChoices(queries)}
          onChange={(selected) => onChange({ queries: selected.length === 0 ? undefined : selected })}
        />
      )}
    </div>
  );
};
