/// Gets the events of a stream task's connection, besides what every load reports. Loop-confined.
protocol StreamLoadDelegate: LoadDelegate {
    /// The queue on which handlers are called, after earlier calls.
    var callbacks: CallbackQueue { get }
    /// Asks to pause the answer until ``catchUp()``: as much as may be read ahead waits.
    func fallBehind()
    func catchUp()
    /// Ends the task: the program has taken the connection over.
    func end(handingOver streams: CapturedStreams)
}
