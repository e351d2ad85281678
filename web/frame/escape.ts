import { useEffect } from 'preact/hooks';

/** Escape closes what is open in a view. */
export const useEscape = (close: () => void): void =>
  useEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') close();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
