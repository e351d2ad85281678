/** Frames of a stack, mapped to source files where a source map has them */
import { renderText } from '../frame/display-text.tsx';

interface Position {
  readonly function: string | null;
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
}

export interface StackFrame extends Position {
  readonly isInApp: boolean;
  readonly generated: Position | null;
  readonly unmappedReason: string | null;
}

const formatPosition = ({ function: name, file, line, column }: Position): string => {
  const place = [file, line, column].filter((part) => part !== null).join(':');
  return [name, place === '' ? null : `(${place})`].filter((part) => part !== null).join(' ');
};

/** Reasons that an upload of source maps may change */
const reasonTexts: Readonly<Record<string, string>> = {
  'no-release': 'the error has no release',
  'no-map': 'no source map of this release',
  'file-not-found': 'the file is not in the source maps of this release',
  'position-outside': 'the position is outside of the source map',
  'too-many-files': 'too many files in one response',
};

/** States why frames are not mapped, and what to do. */
const UnmappedNote = ({ frames }: { readonly frames: readonly StackFrame[] }) => {
  const reasons = new Set(frames.flatMap(({ unmappedReason }) => reasonTexts[unmappedReason ?? ''] ?? []));
  if (reasons.size === 0) return null;
  return (
    <p class="soft">
      Not mapped to source files: {[...reasons].join('; ')}. Upload the maps of a build with{' '}
      <code>oiq source-maps upload</code>.
    </p>
  );
};

export const StackFrames = ({ frames }: { readonly frames: readonly StackFrame[] }) => (
  <>
    <ol class="around">
      {frames.map((frame, index) => (
        <li
          key={index}
          class={frame.isInApp ? '' : 'soft'}
          title={frame.generated === null ? undefined : `In the bundle: ${formatPosition(frame.generated)}`}
        >
          {renderText(formatPosition(frame))}
        </li>
      ))}
    </ol>
    <UnmappedNote frames={frames} />
  </>
);
