import java.io.File;
import javax.xml.XMLConstants;
import javax.xml.transform.stream.StreamSource;
import javax.xml.validation.Schema;
import javax.xml.validation.SchemaFactory;

/** java Validate.java schema.xsd file...: a line for each file, "ok" or what is wrong with it. */
public class Validate {
	public static void main(String[] args) throws Exception {
		Schema schema = SchemaFactory.newInstance(XMLConstants.W3C_XML_SCHEMA_NS_URI)
				.newSchema(new File(args[0]));
		for (int i = 1; i < args.length; i++) {
			try {
				schema.newValidator().validate(new StreamSource(new File(args[i])));
				System.out.println("ok");
			} catch (org.xml.sax.SAXException error) {
				System.out.println(error.getMessage().replace('\n', ' '));
			}
		}
	}
}
