"""Labelled pairs of statements: which may be merged and which may not, whatever a measure of likeness says.

`same` means that a person would keep one of the two and lose nothing. Hard paraphrases are among them
on purpose: what is missed is to be seen in the recall. Written for this test; no line is from a
playbook of others.
"""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """Two statements, and whether they may be merged."""

    group: str
    same: bool
    one: str
    other: str


def labelled(group: str, same: bool, table: str) -> tuple[Pair, ...]:
    lines = [line.strip() for line in table.strip().splitlines()]
    cut = [tuple(part.strip() for part in line.split(" | ")) for line in lines]
    assert all(len(parts) == 2 for parts in cut), [parts for parts in cut if len(parts) != 2]
    return tuple(Pair(group, same, one, other) for one, other in cut)


PAIRS: tuple[Pair, ...] = (
    *labelled(
        "easy paraphrase",
        True,
        """
        Check the units before summing. | Check units before summing
        Make sure to check the invoice date before converting. | Check the invoice date before converting.
        Always read the API docs before calling an endpoint. | Read the API documentation before calling an endpoint.
        Remember to close the cursor after each query. | Close the cursor after every query.
        Do not retry a failed payment. | Never retry a failed payment.
        Don't delete backups. | Do not delete backups.
        You must not share the token. | Never share the token.
        Avoid rounding intermediate results. | Do not round intermediate results.
        In order to find the total, sum all lines. | To find the total, sum all lines.
        Verify the balance prior to a transfer. | Check the balance before a transfer.
        Please validate the schema first. | Validate the schema first.
        Wait five seconds between calls. | Wait 5 seconds between calls.
        Wait 10 sec before the next poll. | Wait 10 seconds before the next poll.
        Stop after 3 minutes. | Stop after 3 min.
        Apply a discount of 5 percent. | Apply a discount of 5%.
        Retry no more than 3 times. | Retry at most 3 times.
        Keep no fewer than 2 replicas. | Keep at least 2 replicas.
        Fetch the config, then parse it. | Get the configuration, then parse it.
        Pick the largest file. | Select the biggest file.
        Invoke the search tool with a query. | Call the search tool with a query.
        When you call the endpoint, pass a page size. | When calling the endpoint, pass a page size.
        If the response is empty, try again. | Retry if the response is empty.
        When a page is full, ask for the next one. | Ask for the next one when a page is full.
        Before writing the report, check every total. | Check each total before writing the report.
        Use "invoice_date" for the rate. | Use `invoice_date` for the rate.
        It is important to log the request id. | Log the request id.
        You should sort rows before comparing. | Sort rows before comparing.
        You need to flush the buffer at the end. | Flush the buffer at the end.
        Be sure to escape the path. | Escape the path.
        Do not forget to commit. | Commit.
        Ensure that the file exists. | Make sure that the file exists.
        Verify that the sum is positive. | Check the sum is positive.
        Show the maximum score. | Display the max score.
        Put the result into the output folder. | Put the result into the output directory.
        Utilize batches for inserts. | Use batches for inserts.
        Retrieve the user by email. | Fetch the user by email.
        Transfer 1,000 EUR at once. | Transfer 1000 EUR at once.
        Do not start before you have the lock. | Do not begin before you have the lock.
        Pass flags, for example --dry-run. | Pass flags, for instance --dry-run.
        Include both tax and tip. | Include both tip and tax.
        Ask for the ids including orders, refunds and credits. | Ask for the ids including credits, orders and refunds.
        Never store a password in the repo. | Do not store a password in the repository.
        """,
    ),
    *labelled(
        "longer text",
        True,
        """
        Check units before summing. | Check units before summing. This prevents wrong totals.
        Name the unit in the header. | Name the unit in the header. This helps readers.
        Log the request id. | Log the request id. Support looks it up there.
        Never retry a charge. | Never retry a charge. It ensures a customer pays once.
        Use the list endpoint with paging. | Use the list endpoint with paging. Pages are small by design.
        Convert each line at its own rate. | Convert each line at its own rate. This keeps the total right.
        """,
    ),
    *labelled(
        "hard paraphrase",
        True,
        """
        Read the schema first. | Read the schema first. It saves a failed call.
        Close the file. | Open the file with a context. Close the file.
        Read the documentation of an API before you use it. | Before using any API, look into its docs.
        Do not sum amounts of different currencies. | Convert amounts to one currency before you add them up.
        Ask the user to confirm before deleting anything. | Get the user's confirmation ahead of every deletion.
        Split large inserts into batches. | Insert big data batch by batch.
        The endpoint returns at most 100 rows, so use paging. | Page through results, since the endpoint gives 100 rows at most.
        Log in again when the token has expired. | An expired token means that you have to authenticate anew.
        Dates in this file are day first. | In this file, dates put the day before the month.
        Save your work before the session ends. | Don't let the session end with unsaved work.
        """,
    ),
    *labelled(
        "two languages",
        True,
        """
        Convert at the rate of the invoice date. | 按开票日的汇率换算。
        Save the invoice as PDF/A. | 請求書はPDF/Aで保存する。
        Refunds are possible within 7 days. | 환불은 7일 이내에 가능하다.
        Check the balance before a transfer. | Prüfe den Kontostand vor einer Überweisung.
        """,
    ),
    *labelled(
        "within another language",
        True,
        """
        请先检查余额。 | 先检查余额
        请务必核对发票日期。 | 核对发票日期。
        请按开票日汇率换算，然后求和。 | 按开票日汇率换算，然后求和。
        等待 5 秒。 | 等待 5 秒
        請求書はPDF/Aで保存する。 | 請求書はPDF/Aで保存する
        환불은 7일 이내. | 환불은 7일 이내
        Prüfe die Summe vor dem Versand. | Prüfe die Summe vor dem Versand
        使用（测试）环境。 | 使用(测试)环境。
        """,
    ),
    *labelled(
        "number",
        False,
        """
        Retry at most 3 times. | Retry at most 5 times.
        Wait 1.5 seconds between calls. | Wait 15 seconds between calls.
        Round to 2 decimals. | Round to 3 decimals.
        The page size is 50. | The page size is 100.
        Version 2.10 is required. | Version 2.1 is required.
        Keep logs for seven days. | Keep logs for nine days.
        Apply a discount of 5%. | Apply a discount of 15%.
        Use port 8080. | Use port 8081.
        Refund within 14 days of delivery. | Refund within 30 days of delivery.
        Split the batch into 4 parts. | Split the batch into 40 parts.
        The offset is -5 rows. | The offset is 5 rows.
        Prices have 1,5 percent tax. | Prices have 15 percent tax.
        Read rows 3 to 5 of the table. | Read rows 5 to 3 of the table.
        Expect HTTP 404 for a missing order. | Expect HTTP 410 for a missing order.
        The limit is 1,000 rows per call. | The limit is 10,000 rows per call.
        等待 5 秒后重试。 | 等待 15 秒后重试。
        환불은 7일 이내. | 환불은 17일 이내.
        Allow two bags per passenger. | Allow three bags per passenger.
        """,
    ),
    *labelled(
        "unit",
        False,
        """
        Wait 5 seconds between calls. | Wait 5 minutes between calls.
        The timeout is 30 s. | The timeout is 30 ms.
        The limit is 10 MB. | The limit is 10 GB.
        Keep backups for 3 days. | Keep backups for 3 weeks.
        Report the weight in kg. | Report the weight in g.
        Distances are in km. | Distances are in m.
        The fee is 5 EUR. | The fee is 5 USD.
        The fee is 5%. | The fee is 5 EUR.
        The window is 24 hours. | The window is 24 days.
        Send amounts in cents. | Send amounts in dollars.
        Store times in UTC. | Store times in CET.
        The buffer is 64 kb. | The buffer is 64 mb.
        The refresh takes 2 h. | The refresh takes 2 min.
        """,
    ),
    *labelled(
        "negation",
        False,
        """
        Always retry a failed payment. | Never retry a failed payment.
        Round before summing. | Do not round before summing.
        Use the API token. | Don't use the API token.
        Send the report with attachments. | Send the report without attachments.
        Include tax in the total. | Do not include tax in the total.
        You can cancel a basic fare. | You cannot cancel a basic fare.
        Read the file if it exists. | Read the file unless it exists.
        Rows must be unique. | Rows must not be unique.
        The cache is shared. | The cache is not shared.
        Ask the user before deleting. | Never ask the user before deleting.
        Filter by status and date. | Filter by status, not date.
        Accept invoices that have a number. | Accept invoices that have no number.
        Do not always retry. | Do not retry.
        Not all rows are valid. | All rows are not valid.
        使用缓存。 | 不要使用缓存。
        可以取消基本票。 | 不可以取消基本票。
        All fields except the id are needed. | All fields and the id are needed.
        Only admins delete rows. | Admins delete rows.
        """,
    ),
    *labelled(
        "opposite",
        False,
        """
        Put the smallest number first. | Put the largest number first.
        Sort prices ascending. | Sort prices descending.
        Use the first match. | Use the last match.
        Round before summing. | Round after summing.
        Keep the oldest copy. | Keep the newest copy.
        Enable the cache for tests. | Disable the cache for tests.
        Increase the batch size on errors. | Decrease the batch size on errors.
        Lock the table before writing. | Unlock the table before writing.
        Include drafts in the search. | Exclude drafts from the search.
        Add the header to every request. | Remove the header from every request.
        Report gross amounts. | Report net amounts.
        Accept orders below the limit. | Reject orders below the limit.
        Upload the file before the call. | Download the file before the call.
        Convert USD to EUR. | Convert EUR to USD.
        Copy from the archive to the inbox. | Copy from the inbox to the archive.
        The sender pays the fee. | The recipient pays the fee.
        Make the report public. | Make the report private.
        Names are in uppercase. | Names are in lowercase.
        Delete all rows of the draft. | Delete any rows of the draft.
        Approve refunds to gift cards. | Refuse refunds to gift cards.
        The field is required. | The field is optional.
        按日期升序排列。 | 按日期降序排列。
        先付款后发货。 | 先发货后付款。
        日付順に並べる。 | 日付の逆順に並べる。
        Validate, then save. | Save, then validate.
        Push before you pull. | Pull before you push.
        Book the cheapest flight. | Book the fastest flight.
        """,
    ),
    *labelled(
        "comparison",
        False,
        """
        Retry at most 3 times. | Retry at least 3 times.
        Keep rows with n >= 10. | Keep rows with n > 10.
        Keep rows with n >= 10. | Keep rows with n <= 10.
        Stop when x == 0. | Stop when x != 0.
        Ask when the amount is more than 100. | Ask when the amount is less than 100.
        Ask when the amount is more than 100. | Ask when the amount is at least 100.
        Use the maximum of both. | Use the minimum of both.
        Show exactly 3 results. | Show at least 3 results.
        Delete more rows. | Delete most rows.
        Take some samples of each kind. | Take all samples of each kind.
        Limits are [0, 1). | Limits are (0, 1].
        Orders above the limit need approval. | Orders below the limit need approval.
        You can skip the check. | You must skip the check.
        You may skip the check. | You should skip the check.
        Accept A and B. | Accept A or B.
        """,
    ),
    *labelled(
        "identifier",
        False,
        """
        Use invoice_date for rates. | Use due_date for rates.
        Open /etc/hosts before the test. | Open /etc/host before the test.
        Use snake_case names. | Use snake-case names.
        Set --no-verify on commit. | Set --verify on commit.
        See ADR-0005 for the reason. | See ADR-0006 for the reason.
        Write C code for the driver. | Write C++ code for the driver.
        Choose option A. | Choose option B.
        Send it to US customers. | Send it to us customers.
        Read column a of the sheet. | Read column A of the sheet.
        Call __init__ first. | Call init first.
        Join on order_id. | Join on order_ids.
        Use user.name as the key. | Use user.mail as the key.
        Deploy to the host db-1.local. | Deploy to the host db-2.local.
        The field is named "total". | The field is named "sum".
        Answer 'yes' to the prompt. | Answer 'no' to the prompt.
        Compute n! first. | Compute n first.
        Set _private to 1. | Set private to 1.
        Ask Ann to approve. | Ask Bob to approve.
        Bill the order to Polish firms. | Bill the order to polish firms.
        Use the Berlin office address. | Use the Paris office address.
        """,
    ),
    *labelled(
        "condition",
        False,
        """
        If the cart is empty, stop. | If the cart is full, stop.
        Retry when the call times out. | Retry when the call is refused.
        Ask before deleting files. | Ask before moving files.
        Use the cache during tests. | Use the cache during releases.
        Round up if the customer is new. | Round up if the invoice is new.
        Cancel the booking within a day. | Cancel the booking within a week.
        Delete drafts. | Delete drafts when asked.
        Send the report once it is signed. | Send the report.
        While the job runs, do not write. | While the job waits, do not write.
        Refund the fare if the flight was cancelled by the airline. | Refund the fare if the flight was cancelled by the customer.
        For gold members, two bags are free. | For silver members, two bags are free.
        Use the mirror on weekdays. | Use the mirror on weekends.
        Check units. | Check units. Only for imports.
        Sum lines. | Sum lines. Except for credits.
        Retry the call. | Retry the call. At most 3 times.
        Skip the header if the file is a CSV. | Skip the header if the file is a TSV.
        Write to the log after each step. | Write to the log after the last step.
        """,
    ),
    *labelled(
        "tool",
        False,
        """
        Call book_flight with a list of passengers. | Call book_hotel with a list of passengers.
        Use grep to find the line. | Use sed to find the line.
        Run git push. | Run git push --force.
        Run git fetch. | Run git pull.
        Call search_orders before refund. | Call refund before search_orders.
        Use the calculate tool for sums. | Use the convert tool for sums.
        Pass user_id to get_user. | Pass user_id to get_account.
        Use curl with -L. | Use wget with -L.
        Call rm *. | Call rm.
        Use SELECT for totals. | Use UPDATE for totals.
        cd .. before the build. | cd . before the build.
        Call the pick function. | Call the select function.
        Use the display tool. | Use the show tool.
        Load data with read_csv. | Load data with read_json.
        """,
    ),
    *labelled(
        "another subject",
        False,
        """
        Check the units of the invoice. | Check the units of the contract.
        Use their token. | Use your token.
        Close the ticket after the refund. | Close the account after the refund.
        Cancel the booking. | Cancel the book.
        Sort by rating. | Sort by rate.
        Open the settings. | Open the set.
        The agent sends the offer. | The customer sends the offer.
        Set a to b. | Set to b.
        汇率按开票日换算。 | 汇率按付款日换算。
        Write the summary for the manager. | Write the summary for the auditor.
        Keep the paid invoices. | Keep the pay invoices.
        Answer in German. | Answer in French.
        """,
    ),
)

FROM_TASKS: tuple[tuple[bool, str, str, str, str], ...] = (
    (True, "Check units.", "sum invoices", "Check units.", "sum receipts"),
    (True, "Check the units.", "sum invoices", "Please check units", "sum invoices"),
    (False, "Never put the total first.", "sort prices ascending", "Do not put the total first.", "rank scores descending"),
    (False, "Make sure to use the second column.", "read file a", "Use the second column.", "read file b"),
    (True, "Never retry a charge.", "refund an order", "Never retry a charge.", "book a flight"),
    (False, "Remember to ask for the short form.", "tax return", "Ask for the short form.", "visa application"),
)
"""Whether to merge; a text and the task it comes from, twice. The very same words are one lesson whatever the task."""
