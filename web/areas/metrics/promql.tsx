/** Input field of a PromQL expression, with its errors */
import { useState } from 'preact/hooks';
import { renderText } from '../../frame/shown-text.tsx';

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
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        onRun(expression.trim());
      }}
    >
      <label for="promql">PromQL</label>
      <textarea
        id="promql"
        rows={2}
        value={expression}
        maxLength={16_384}
        spellcheck={false}
        placeholder="sum by (job) (rate(http_requests_total[5m]))"
        aria-invalid={problem !== undefined}
        aria-describedby="promql-problem"
        onInput={({ currentTarget }) => setExpression(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey) return;
          event.preventDefault();
          onRun(expression.trim());
        }}
      />
      <button type="submit">Run query</button>
      <p class="problem-text" id="promql-problem" role="alert">
        {problem === undefined ? '' : renderText(problem)}
      </p>
    </form>
  );
};
