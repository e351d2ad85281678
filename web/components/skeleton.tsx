/** Gray shapes with the size of the content that loads. Screen readers read “Loading…”. */
export const Skeleton = ({
  lines = 3,
  height,
}: {
  /** Number of text lines */
  readonly lines?: number;
  /** Height of one block in pixels, instead of lines */
  readonly height?: number;
}) => (
  <div class="skeleton" role="status">
    <span class="sr-only">Loading…</span>
    {height === undefined ? (
      Array.from({ length: lines }, (_, index) => <span key={index} class="skeleton-line" />)
    ) : (
      <span class="skeleton-block" style={{ height: `${height}px` }} />
    )}
  </div>
);

/** Rows of a table that loads */
export const SkeletonRows = ({ rows = 8 }: { readonly rows?: number }) => (
  <div class="skeleton rows-of" role="status">
    <span class="sr-only">Loading…</span>
    {Array.from({ length: rows }, (_, index) => (
      <span key={index} class="skeleton-row">
        <i />
        <i />
        <i />
        <i />
      </span>
    ))}
  </div>
);
