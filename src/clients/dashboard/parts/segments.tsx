import type { ComponentChildren } from "preact";

interface SegmentsProps<T> {
  /** For screen readers. */
  readonly legend: string;
  /** Name that groups the radio buttons. */
  readonly name: string;
  readonly options: readonly T[];
  readonly chosen: T | undefined;
  readonly onChoose: (option: T) => void;
  /** Default: the option itself. */
  readonly label?: (option: T) => ComponentChildren;
}

/** A choice of one of a few options, side by side. */
export function Segments<T extends string | undefined>({
  legend,
  name,
  options,
  chosen,
  onChoose,
  label = (option) => option,
}: SegmentsProps<T>) {
  return (
    <fieldset class="segments">
      <legend class="unseen">{legend}</legend>
      {options.map((option) => (
        <label key={option ?? "all"} data-option={option}>
          <input type="radio" name={name} checked={option === chosen} onChange={() => onChoose(option)} />
          <span>{label(option)}</span>
        </label>
      ))}
    </fieldset>
  );
}
