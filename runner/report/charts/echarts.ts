import { CustomChart, LineChart } from "echarts/charts";
import { GridComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

/** The parts of ECharts that our pictures are made of: all that the bundle holds. Pointer, zoom and legend are the page's own. */
use([CustomChart, GridComponent, LineChart, SVGRenderer]);

export { init };
