import java.io.BufferedReader;
import java.io.InputStreamReader;

import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.tools.consumer.group.ConsumerGroupCommand;

/**
 * Kafka's own tool for groups (kafka-consumer-groups.sh), many times in one Java machine: each line of standard input is a command line, whose output
 * ends with a line "exit CODE".
 */
public final class Admin {
    private static final class Ended extends RuntimeException {
        final int code;

        Ended(int code) {
            this.code = code;
        }
    }

    public static void main(String[] args) throws Exception {
        Exit.setExitProcedure((code, message) -> {
            throw new Ended(code);
        });
        System.setErr(System.out); // what goes wrong is told on either
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            int code = 0;
            try {
                ConsumerGroupCommand.main(line.trim().split(" "));
            } catch (Ended e) {
                code = e.code;
            }
            System.out.println("exit " + code);
            System.out.flush();
        }
    }
}
