/** Formulas of a panel: arithmetic over its queries by name */
import type { Panel } from '../calls.ts';

type Formula = Panel['formulas'][number];

const findUnusedName = (panel: Panel): string => {
  const usedNames = new Set([...panel.queries, ...panel.formulas].map(({ name }) => name));
  return [...'FGHIJKLMNOPQRSTUVWXYZABCDE'].find((name) => !usedNames.has(name)) ?? `F${panel.formulas.length + 1}`;
};

const FormulaFields = ({
  formula,
  onChange,
  onRemove,
}: {
  readonly formula: Formula;
  readonly onChange: (formula: Formula) => void;
  readonly onRemove: () => void;
}) => (
  <fieldset>
    <legend>Formula {formula.name}</legend>
    <label>
      Arithmetic{' '}
      <input
        value={formula.expression}
        maxLength={1024}
        spellcheck={false}
        autocomplete="off"
        placeholder="100 * A / B"
        onInput={({ currentTarget }) => onChange({ ...formula, expression: currentTarget.value })}
      />
    </label>
    <label>
      Legend{' '}
      <input
        value={formula.legend}
        maxLength={1024}
        spellcheck={false}
        placeholder="{{service}}"
        onInput={({ currentTarget }) => onChange({ ...formula, legend: currentTarget.value })}
      />
    </label>
    <button type="button" class="plain" onClick={onRemove}>
      Remove formula {formula.name}
    </button>
  </fieldset>
);

/** Formulas, and a checkbox per query to hide it from the panel. */
export const Formulas = ({
  panel,
  onChange,
}: {
  readonly panel: Panel;
  readonly onChange: (fields: Partial<Panel>) => void;
}) => (
  <>
    {panel.formulas.length === 0
      ? null
      : panel.queries.map((query) => (
          <label key={query.name} class="choice">
            <input
              type="checkbox"
              checked={query.hidden}
              onChange={({ currentTarget }) =>
                onChange({
                  queries: panel.queries.map((panelQuery) =>
                    panelQuery.name === query.name ? { ...panelQuery, hidden: currentTarget.checked } : panelQuery,
                  ),
                })
              }
            />{' '}
            Query {query.name} is hidden (for formulas only)
          </label>
        ))}
    {panel.formulas.map((formula, index) => (
      <FormulaFields
        key={formula.name}
        formula={formula}
        onChange={(updatedFormula) => onChange({ formulas: panel.formulas.with(index, updatedFormula) })}
        onRemove={() => onChange({ formulas: panel.formulas.toSpliced(index, 1) })}
      />
    ))}
    <button
      type="button"
      class="plain"
      disabled={panel.queries.length === 0}
      onClick={() => {
        const [firstQuery] = panel.queries;
        const formula = {
          name: findUnusedName(panel),
          expression: `${firstQuery?.name ?? 'A'} * 1`,
          hidden: false,
          legend: '',
        };
        onChange({ formulas: [...panel.formulas, formula] });
      }}
    >
      Add formula
    </button>
  </>
);
