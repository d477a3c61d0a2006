import { Component } from "preact";

const WIDTH = 96;
const HEIGHT = 24;

interface SparklineProps {
  /** Percent from the average, oldest first. */
  readonly values: readonly number[] | undefined;
}

/** A price curve with its average; empty if unknown. */
export class Sparkline extends Component<SparklineProps> {
  override shouldComponentUpdate(next: SparklineProps): boolean {
    return next.values !== this.props.values;
  }

  override render({ values }: SparklineProps) {
    if (!values || values.length < 2) return <span class="spark" aria-hidden="true" />;
    const low = Math.min(0, ...values);
    const high = Math.max(0, ...values);
    const y = (value: number) => (HEIGHT - 1 - ((value - low) / (high - low || 1)) * (HEIGHT - 2)).toFixed(1);
    const x = (at: number) => ((at / (values.length - 1)) * WIDTH).toFixed(1);
    const path = values.map((value, at) => `${at === 0 ? "M" : "L"}${x(at)} ${y(value)}`).join("");
    const last = values.at(-1) ?? 0;
    const text = `${values.length} minutes: from ${low.toFixed(1)} to ${high.toFixed(1)} percent from the average, now ${last.toFixed(1)}`;
    return (
      <svg
        class={`spark ${last >= 0 ? "up" : "down"}`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={text}
      >
        <line x1="0" x2={WIDTH} y1={y(0)} y2={y(0)} />
        <path d={path} />
      </svg>
    );
  }
}
