/** Duration and comment of a silence */

const durationChoicesHours = [1, 4, 24, 168];
const formatHours = (count: number): string =>
  count === 168 ? '7 days' : count === 24 ? 'a day' : count === 1 ? 'an hour' : `${count} hours`;

/** Two form fields: `hours` and `comment`. */
export const SilenceFields = () => (
  <>
    <label>
      Silence for{' '}
      <select name="hours">
        {durationChoicesHours.map((count) => (
          <option key={count} value={count}>
            {formatHours(count)}
          </option>
        ))}
      </select>
    </label>
    <label>
      Comment <input name="comment" maxLength={4096} autocomplete="off" />
    </label>
  </>
);
