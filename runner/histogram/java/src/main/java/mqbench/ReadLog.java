package mqbench;

import java.io.File;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/**
 * Reads an .hlog file with the reference implementation, adds up the lines of each tag, and prints
 * one JSON object: {"response": {"count": 1, "p50": 2, "p99": 3, "p999": 4, "max": 5}, ...}, values in ns.
 */
public final class ReadLog {
  public static void main(String[] args) throws Exception {
    Map<String, Histogram> byTag = new TreeMap<>();
    HistogramLogReader reader = new HistogramLogReader(new File(args[0]));
    while (reader.hasNext()) {
      EncodableHistogram interval = reader.nextIntervalHistogram();
      if (interval == null) {
        break;
      }
      Histogram line = (Histogram) interval;
      byTag.computeIfAbsent(
              String.valueOf(line.getTag()),
              tag ->
                  new Histogram(
                      line.getLowestDiscernibleValue(),
                      line.getHighestTrackableValue(),
                      line.getNumberOfSignificantValueDigits()))
          .add(line);
    }
    StringBuilder json = new StringBuilder("{");
    for (Map.Entry<String, Histogram> entry : byTag.entrySet()) {
      Histogram all = entry.getValue();
      json.append(json.length() > 1 ? "," : "")
          .append(
              String.format(
                  "\"%s\":{\"count\":%d,\"p50\":%d,\"p99\":%d,\"p999\":%d,\"max\":%d}",
                  entry.getKey(),
                  all.getTotalCount(),
                  all.getValueAtPercentile(50),
                  all.getValueAtPercentile(99),
                  all.getValueAtPercentile(99.9),
                  all.getMaxValue()));
    }
    System.out.println(json.append("}"));
  }
}
