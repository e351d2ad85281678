/** Variables of a dashboard in the editor: list, order, and selectable values */
import { useState } from 'preact/hooks';
import type { CallError } from '../../../client/request.ts';
import { FieldProblem } from '../../../editors/field.tsx';
import { renderText } from '../../../frame/display-text.tsx';
import { markHiddenCharacters } from '../../../frame/hidden-characters.ts';
import { SidePanel } from '../../../lists/side-panel.tsx';
import type { DashboardResults } from '../board.ts';
import type { Variable } from '../calls.ts';
import type { DashboardDraft } from './draft.ts';
import { VariableFields } from './variable-fields.tsx';
import { createVariable, kinds, moveItem } from './variable-kinds.ts';
import type { VariableResult } from './variable-parts.tsx';

/** Maximum number of listed values; further ones are counted */
const maxOptions = 50;

const formatOption = ({ value, title }: VariableResult['options'][number]): string =>
  title === value ? value : `${title} (${value})`;

const OptionList = ({ variableResult }: { readonly variableResult: VariableResult | undefined }) => {
  if (variableResult === undefined) return <p class="soft">Fix the errors above to load the values.</p>;
  const { options, error, partial } = variableResult;
  return (
    <div role="status">
      {error === undefined || error.path !== undefined ? null : <p class="problem-text">{renderText(error.message)}</p>}
      {options.length === 0 ? null : (
        <p>
          {options.length === 1 ? '1 value' : `${options.length} values`}:{' '}
          {options.slice(0, maxOptions).map((option, index) => (
            <span key={option.value}>
              {index === 0 ? '' : ', '}
              <bdi>{renderText(formatOption(option))}</bdi>
            </span>
          ))}
          {options.length > maxOptions ? ' …' : ''}
        </p>
      )}
      {options.length === 0 && error === undefined ? <p class="soft">No values.</p> : null}
      {partial.map(({ message }) => (
        <p key={message} class="soft">
          Incomplete: {renderText(message)}.
        </p>
      ))}
    </div>
  );
};

const isAtOrBelow = (path: string, ancestorPath: string): boolean =>
  path === ancestorPath || path.startsWith(`${ancestorPath}.`);

/** Returns a function that finds the error at a path of a variable; the empty path is the variable itself. */
const createProblemFinder =
  (
    errors: readonly (CallError | undefined)[],
    index: number,
    { name }: Variable,
    variableResult: VariableResult | undefined,
  ) =>
  (variablePath: string): string | undefined => {
    const messages = errors.flatMap((error) =>
      (error?.details ?? []).flatMap(({ path, message }) => {
        const draftPath = path.replace(/^draft\./, '');
        const matchesPath =
          variablePath === ''
            ? draftPath === `variables.${index}` || draftPath === `variables.${name}`
            : isAtOrBelow(draftPath, `variables.${index}.${variablePath}`);
        return matchesPath ? [message] : [];
      }),
    );
    if (variablePath !== '' && variableResult?.error?.path === variablePath)
      messages.push(variableResult.error.message);
    return messages.length === 0 ? undefined : [...new Set(messages)].join('; ');
  };

/** Stable keys of variables, because names and positions change. */
const useKeys = (count: number) => {
  const [keys, setKeys] = useState<readonly number[]>([]);
  const nextKey = Math.max(-1, ...keys) + 1;
  const allKeys =
    keys.length >= count
      ? keys
      : [...keys, ...Array.from({ length: count - keys.length }, (_, offset) => nextKey + offset)];
  return [allKeys, setKeys] as const;
};

/** Focuses the button after rendering, or the name of the moved variable if the button became disabled. */
const restoreFocus = (button: HTMLButtonElement): void => {
  setTimeout(() => (button.disabled ? button.closest('details')?.querySelector('summary') : button)?.focus());
};

export const VariablesEditor = ({
  dashboardDraft,
  board,
  onClose,
}: {
  readonly dashboardDraft: DashboardDraft;
  readonly board: DashboardResults;
  readonly onClose: () => void;
}) => {
  const variables = dashboardDraft.draft.value?.variables ?? [];
  const [keys, setKeys] = useKeys(variables.length);
  const [newKey, setNewKey] = useState(-1);
  const variableResults = board.context.value?.variables ?? [];
  const errors = [dashboardDraft.saveError.value, board.state.value.error];
  const updateVariables = (updatedVariables: readonly Variable[], updatedKeys: readonly number[] = keys): void => {
    setKeys(updatedKeys);
    dashboardDraft.updateDocument({ variables: [...updatedVariables] });
  };
  const move = (index: number, offset: -1 | 1, button: HTMLButtonElement): void => {
    updateVariables(moveItem(variables, index, offset), moveItem(keys, index, offset));
    restoreFocus(button);
  };
  return (
    <SidePanel label="Variables" title="Variables" onClose={onClose}>
      {variables.length === 0 ? (
        <p class="soft">A variable is a value that viewers select. Queries and titles refer to it as $name.</p>
      ) : null}
      {variables.map((variable, index) => {
        const variableResult = variableResults.find(({ name }) => name === variable.name);
        const findProblem = createProblemFinder(errors, index, variable, variableResult);
        const name = markHiddenCharacters(variable.name);
        return (
          <details key={keys[index]} class="variable" open={keys[index] === newKey}>
            <summary>
              <b>{name}</b> <span class="soft">{kinds[variable.kind]}</span>
            </summary>
            <div class="form">
              <VariableFields
                variable={variable}
                result={variableResult}
                findProblem={findProblem}
                onChange={(updatedVariable) => updateVariables(variables.with(index, updatedVariable))}
              />
              <FieldProblem message={findProblem('')} />
              {variable.kind === 'constant' || variable.kind === 'text' || variable.kind === 'filters' ? null : (
                <OptionList variableResult={variableResult} />
              )}
            </div>
            <div class="act">
              <button
                type="button"
                class="plain"
                disabled={index === 0}
                aria-label={`Move ${name} up`}
                onClick={({ currentTarget }) => move(index, -1, currentTarget)}
              >
                ↑
              </button>
              <button
                type="button"
                class="plain"
                disabled={index === variables.length - 1}
                aria-label={`Move ${name} down`}
                onClick={({ currentTarget }) => move(index, 1, currentTarget)}
              >
                ↓
              </button>
              <button
                type="button"
                class="plain"
                onClick={() => updateVariables(variables.toSpliced(index, 1), keys.toSpliced(index, 1))}
              >
                Remove {name}
              </button>
            </div>
          </details>
        );
      })}
      <button
        type="button"
        class="plain"
        onClick={() => {
          const key = Math.max(-1, ...keys) + 1;
          setNewKey(key);
          updateVariables([...variables, createVariable(variables)], [...keys, key]);
        }}
      >
        Add variable
      </button>
    </SidePanel>
  );
};
