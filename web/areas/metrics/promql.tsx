/** PromQL query of the metrics explorer, with its error */
import { useEffect, useState } from 'preact/hooks';
import { PromqlField } from '../../editors/promql-field.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { QueryHistoryMenu } from '../../search/query-history-menu.tsx';

export const PromqlInput = ({
  value,
  problem,
  onRun,
}: {
  readonly value: string;
  readonly problem: string | undefined;
  readonly onRun: (expression: string) => void;
}) => {
  const [expression, setExpression] = useState(value);
  useEffect(() => setExpression(value), [value]);
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        onRun(expression.trim());
      }}
    >
      <PromqlField
        id="promql"
        label="PromQL"
        value={expression}
        isInvalid={problem !== undefined}
        onChange={setExpression}
        onRun={(typedExpression) => onRun(typedExpression.trim())}
      />
      <button type="submit">Run query</button>
      <QueryHistoryMenu explorer="metrics" />
      <p class="problem-text" id="promql-problem" role="alert">
        {problem === undefined ? '' : renderText(problem)}
      </p>
    </form>
  );
};
